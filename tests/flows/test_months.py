"""Publishing for months: whole commands under a clock that is days ahead."""

import json
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import lancedb
import pytest

from indexes.layout import IndexLayout
from indexes.stores.lance import table_upkeep
from tests.fakes.later_clock import later, writing_later
from tests.fakes.neo4j_runs import index, on_neo4j
from tests.fakes.sitegraph_runs import Sitegraph

pytestmark = [pytest.mark.system, pytest.mark.server]
__all__ = ["index", "on_neo4j"]

FILES = 41


@dataclass(frozen=True, slots=True, kw_only=True)
class Months:
    """A folder of notes, its index, and the command that is run on a day."""

    sitegraph: Sitegraph
    folder: Path
    index: Path
    graph: str = "lance"

    def write(self, day: int, numbers: Iterable[int]) -> None:
        """Let some notes say what was seen on that day."""
        for number in numbers:
            text = (
                f"# Note {number}\n\nOn day {day} the lamp of room {number} was seen burning until {day}.\n"
            )
            (self.folder / "notes" / f"{number}.md").write_text(text)

    def on(self, day: float, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run a command on a day."""
        where = ("--index", str(self.index))
        with writing_later(self.index, day):
            clock = later(day, folder=self.folder / "clock")
            return self.sitegraph.command(*arguments, *where, **clock, **environment)

    def run(self, day: float, source: str = "notes") -> dict[str, Any]:
        """Run the source on a day, which must succeed."""
        path = self.folder / f"{source}.yaml"
        graph = ("--graph", self.graph) if not self.index.exists() else ()
        done = self.on(day, "run", str(path), *graph, "--format", "json")
        assert done.returncode == 0, f"day {day}: {done.stderr}"
        report: dict[str, Any] = json.loads(done.stdout)
        return report


def months(sitegraph: Sitegraph, folder: Path, index: Path, *, graph: str = "lance") -> Months:
    """Two folders of notes, and a source file for each."""
    for name in ("notes", "letters"):
        (folder / name).mkdir()
        (folder / f"{name}.yaml").write_text(f"name: {name}\nkind: files\nroots: [{name}]\n")
    (folder / "letters" / "1.md").write_text("# Letter\n\nThe keeper of the lamps writes home.\n")
    made = Months(sitegraph=sitegraph, folder=folder, index=index, graph=graph)
    made.write(0, range(FILES))
    return made


def versions(index: Path) -> int:
    """Versions of the table that has most."""
    folder = IndexLayout(index).lance
    names = [path.stem for path in folder.glob("*.lance")]
    return max(len(lancedb.connect(folder).open_table(name).list_versions()) for name in names)


def size(index: Path) -> int:
    """Bytes of all files but the encoder's."""
    return sum(
        path.stat().st_size
        for path in index.rglob("*")
        if path.is_file() and IndexLayout(index).encoder not in path.parents
    )


@pytest.mark.dear("months of runs")
def test_a_source_that_changes_every_eighth_day_goes_on_publishing(
    sitegraph: Sitegraph, tmp_path: Path
) -> None:
    lived = months(sitegraph, tmp_path, tmp_path / "index")
    published = []
    for day in (0, 8):
        lived.write(day, range(FILES // 2))
        published.append(lived.run(day)["generation"])

    assert published == [1, 2]
    assert sitegraph.damage(lived.index) == ()


@pytest.mark.long
@pytest.mark.timeout(3 * 3600)
@pytest.mark.parametrize("every", [30, 7, 1])
@pytest.mark.parametrize("graph", ["lance", pytest.param("neo4j", marks=pytest.mark.neo4j)])
def test_ninety_days_of_publishing_with_a_rollback_and_a_drop_stay_whole_and_small(
    graph: str, every: int, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Two of 41 notes change each time. Bytes and versions go to and fro between cleanups, and no higher."""
    on_neo4j = graph == "neo4j"
    sitegraph: Sitegraph = request.getfixturevalue("on_neo4j" if on_neo4j else "sitegraph")
    index: Path = request.getfixturevalue("index") if on_neo4j else tmp_path / "index"
    lived = months(sitegraph, tmp_path, index, graph=graph)
    counts, bytes_ = [], []
    for turn, day in enumerate(range(0, 91, every)):
        lived.write(day, [2 * turn % FILES, (2 * turn + 1) % FILES])
        assert lived.run(day)["published"], f"day {day}"
        counts.append(versions(index))
        bytes_.append(size(index))
        print(f"day {day}: {counts[-1]} versions, {bytes_[-1]} bytes", flush=True)
        if turn % 30 == 1:
            hold_and_go_on(lived, day)
        if turn % 30 == 2:
            assert lived.run(day, "letters")["published"]
            assert lived.on(day, "drop", "letters").returncode == 0

    assert sitegraph.damage(index) == ()
    assert max(counts) < 2 * table_upkeep.MAX_STALE_VERSIONS + 20
    assert max(bytes_) < 8 * 2**20
    if every == 1:
        second, third = min(bytes_[31:61]), min(bytes_[61:91])
        assert third < 1.2 * second, "what is left after cleaning up grows"
    sitegraph.run(tmp_path / "notes.yaml", tmp_path / "clean")
    assert sitegraph.export(index) == sitegraph.export(tmp_path / "clean")


def hold_and_go_on(lived: Months, day: int) -> None:
    """Roll back; publishing is held until it is lifted."""
    notes = str(lived.folder / "notes.yaml")
    assert lived.on(day + 0.2, "rollback").returncode == 0
    assert lived.on(day + 0.4, "run", notes).returncode == 4
    assert lived.on(day + 0.6, "rollback", "--lift").returncode == 0
    assert lived.run(day)["published"], "what was rolled back comes in again"
