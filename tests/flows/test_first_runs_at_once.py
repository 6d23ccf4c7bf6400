"""First runs that race for one new index: one makes it, all use it, and it works afterwards."""

import subprocess
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.fakes.sitegraph_runs import Sitegraph

pytestmark = [pytest.mark.system, pytest.mark.server]

HELD = 3
"""Exit code where another run of the same source is at work."""


def write_notes(folder: Path, name: str) -> Path:
    """A source of one file."""
    (folder / name).mkdir(exist_ok=True)
    (folder / name / "note.md").write_text(f"# The {name}\n\nThe {name} is wound up every evening at nine.\n")
    source = folder / f"{name}.yaml"
    source.write_text(f"name: {name}\nkind: files\nroots: [{name}]\n")
    return source


def race(program: Sitegraph, sources: Sequence[Path], index: Path) -> list[subprocess.CompletedProcess[str]]:
    """Run all sources at once, each in a process of its own, and give how they ended."""
    with ExitStack() as stack:
        running = [
            stack.enter_context(program.process("run", str(source), "--index", str(index)))
            for source in sources
        ]
        said = [process.communicate(timeout=240) for process in running]
        return [
            subprocess.CompletedProcess(process.args, process.returncode, out, err)
            for process, (out, err) in zip(running, said, strict=True)
        ]


def hold_that_it_works(program: Sitegraph, index: Path, names: set[str]) -> None:
    """Every kind of command finds one index, with all that the runs brought."""
    exported = program.export(index)
    assert {row["source"] for row in exported["documents"]} == names
    assert program.damage(index) == ()
    for command in (["status"], ["verify"], ["query", "wound up"], ["changes", "--since", "0"]):
        done = program.call(*command, "--index", str(index))
        assert done.returncode == 0, (command, done.stderr)


def hold_that_the_race_ends_well(program: Sitegraph, folder: Path, names: Sequence[str]) -> None:
    """Different sources are all published; of one source, a run may find another at work."""
    index, sources = folder / "index", [write_notes(folder, name) for name in names]

    ended = race(program, sources, index)

    codes = [done.returncode for done in ended]
    told = [done.stderr for done in ended]
    for name in set(names):
        mine = [code for code, other in zip(codes, names, strict=True) if other == name]
        assert 0 in mine, (codes, told)
        assert set(mine) <= ({0, HELD} if len(mine) > 1 else {0}), (codes, told)
    program.run(sources[0], index)
    hold_that_it_works(program, index, set(names))


def test_three_first_runs_at_once_all_end_in_one_index(sitegraph: Sitegraph, tmp_path: Path) -> None:
    hold_that_the_race_ends_well(sitegraph, tmp_path, ("clock", "lamp", "clock"))


@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.parametrize("names", [("clock", "lamp"), ("clock", "clock"), ("clock", "lamp", "bell")])
def test_of_many_races_of_first_runs_all_end_well(
    sitegraph: Sitegraph, tmp_path: Path, names: tuple[str, ...]
) -> None:
    for number in range(8):
        folder = tmp_path / str(number)
        folder.mkdir()
        if number % 2:
            (folder / "index").mkdir()
        hold_that_the_race_ends_well(sitegraph, folder, names)


@pytest.mark.long
@pytest.mark.postgres
def test_first_runs_at_once_share_a_ledger_in_postgresql(
    sitegraph: Sitegraph, postgres_url: str, tmp_path: Path
) -> None:
    shared = Sitegraph(environment={**sitegraph.environment, "SITEGRAPH_LEDGER_URL": postgres_url})

    hold_that_the_race_ends_well(shared, tmp_path, ("clock", "lamp"))


@pytest.mark.long
@pytest.mark.parametrize("point", ["create.stores_made", "create.before_claim"])
def test_a_first_run_killed_while_it_makes_the_index_does_not_block_the_next(
    sitegraph: Sitegraph, tmp_path: Path, point: str
) -> None:
    source, index = write_notes(tmp_path, "clock"), tmp_path / "index"
    arguments = ("run", str(source), "--index", str(index))
    assert sitegraph.command(*arguments, SITEGRAPH_FAULT=f"{point}:kill").returncode == -9

    done = sitegraph.command(*arguments)

    assert done.returncode == 0, done.stderr
    hold_that_it_works(sitegraph, index, {"clock"})
