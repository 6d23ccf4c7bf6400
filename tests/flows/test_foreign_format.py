"""A format of somebody else's package: installed beside sitegraph, run for real, found by its words.

The package is the example of docs/extending.md, word for word.
"""

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.sitegraph_runs import Sitegraph

pytestmark = pytest.mark.server

MANUAL = Path(__file__).parents[2] / "docs" / "extending.md"
METADATA = "Metadata-Version: 2.4\nName: sitegraph-tickets\nVersion: 1.0\n"
TICKET = """ticket: The bell is cracked

Whoever rings it hears a rattle; the founder comes with the spring tide.
"""


def example() -> str:
    """The Python block of the section on formats."""
    text = MANUAL.read_text(encoding="utf-8")
    blocks: list[str] = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    (code,) = (block for block in blocks if "FORMAT = DocumentFormat(" in block)
    return code


def install(folder: Path, code: str, *, target: str = "tickets:FORMAT") -> dict[str, str]:
    """A folder as pip leaves it, and the environment of a Python that has it."""
    info = folder / "sitegraph_tickets-1.0.dist-info"
    info.mkdir(parents=True)
    (folder / "tickets.py").write_text(code)
    (info / "METADATA").write_text(METADATA)
    (info / "entry_points.txt").write_text(f"[sitegraph.formats]\nticket = {target}\n")
    return {"PYTHONPATH": os.pathsep.join([str(folder), *os.environ.get("PYTHONPATH", "").split(os.pathsep)])}


@pytest.fixture
def source(tmp_path: Path) -> Path:
    (tmp_path / "desk").mkdir()
    (tmp_path / "desk" / "bell.ticket").write_text(TICKET)
    (tmp_path / "desk" / "tides.md").write_text("# Tides\n\nThe spring tide comes with a full moon.\n")
    path = tmp_path / "desk.yaml"
    path.write_text("name: desk\nkind: files\nroots: [desk]\n")
    return path


def run(sitegraph: Sitegraph, source: Path, **environment: str) -> dict[str, Any]:
    told = sitegraph.command(
        "run", str(source), "--index", str(source.parent / "index"), "--format", "json", **environment
    )
    assert told.returncode == 0, told.stderr
    report: dict[str, Any] = json.loads(told.stdout)
    return report


def test_a_document_of_a_package_is_indexed_and_found_and_no_other_is_parsed_again(
    sitegraph: Sitegraph, source: Path, tmp_path: Path
) -> None:
    assert sitegraph.run(source, tmp_path / "index")["documents"]["scheduled"] == 1

    tickets = install(tmp_path / "packages", example())
    report = run(sitegraph, source, **tickets)
    assert (report["documents"]["added"], report["documents"]["unchanged"], report["problems"]) == (1, 1, [])

    # Readers need neither the package nor the parsers.
    index = str(tmp_path / "index")
    told = sitegraph.command(
        "query", "who mends the cracked bell", "--index", index, "--filter", "kind=ticket", "--format", "json"
    )
    first, *_ = json.loads(told.stdout)["evidence"]
    assert (first["kind"], first["file_path"]) == ("ticket", "bell.ticket")
    assert first["heading_path"] == ["The bell is cracked"]
    assert "founder comes with the spring tide" in first["text"]


def test_a_package_that_does_not_load_is_named_and_the_index_stays(
    sitegraph: Sitegraph, source: Path, tmp_path: Path
) -> None:
    broken = install(tmp_path / "packages", "import no_such_library\n")

    told = sitegraph.command(
        "run", str(source), "--index", str(tmp_path / "index"), "--format", "json", **broken
    )

    assert told.returncode == 2
    (line,) = told.stderr.strip().splitlines()[-1:]
    assert re.search(r"sitegraph-tickets: the format tickets:FORMAT does not load .*no_such_library", line)
