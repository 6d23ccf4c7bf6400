"""Readers beside a run: each answer is that of one whole generation."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.fakes.crashes import change
from tests.fakes.handbook import Handbook, write_source
from tests.fakes.prefect_server import REPO
from tests.fakes.sitegraph_runs import Sitegraph

pytestmark = [pytest.mark.system, pytest.mark.server]


@contextmanager
def reading(index: Path, log: Path) -> Iterator[None]:
    """Read in another process until the end of the block, and at least once before and after it."""
    command = [sys.executable, "-m", "tests.fakes.reading_loop", str(index)]
    with log.open("w") as out:
        process = subprocess.Popen(
            command, cwd=REPO, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline()
        yield
        rest, _ = process.communicate("", timeout=300)
        out.write(rest)
    assert process.returncode == 0


@pytest.mark.long
def test_a_reader_sees_the_old_or_the_new_generation_and_nothing_between(
    sitegraph: Sitegraph, handbook: Handbook, tmp_path: Path
) -> None:
    source, index, log = write_source(tmp_path, handbook), tmp_path / "index", tmp_path / "seen"
    sitegraph.run(source, index)
    change(handbook)

    with reading(index, log):
        for heading in ("Losing Leases", "Losing Guards", "Losing Vectors"):
            sitegraph.run(source, index)
            handbook.edit("/vectors.html", heading, f"Nobody speaks of {heading.lower()} any more.")
        sitegraph.run(source, index)
        sitegraph.command("rollback", "--index", str(index))

    seen = [line.split() for line in log.read_text().splitlines()]
    generations = [int(number) for number, _ in seen]
    assert generations[-1] == 4
    assert generations[:-1] != generations[1:], "the reader saw the index change"
    digests: dict[str, set[str]] = {}
    for number, digest in seen:
        digests.setdefault(number, set()).add(digest)
    assert {len(found) for found in digests.values()} == {1}
    assert len(digests) > 2
    assert len({digest for found in digests.values() for digest in found}) == len(digests)
