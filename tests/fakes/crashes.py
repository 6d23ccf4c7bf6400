"""A change of the handbook, runs that are killed in the middle of it, and what an undisturbed run makes."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.fakes.copies import copy_index
from tests.fakes.handbook import Handbook, path_of, serve_handbook, topic_article, write_source
from tests.fakes.prefect_server import poll
from tests.fakes.sitegraph_runs import Rows, Sitegraph

# Each of these leaves a generation half done for the run after it.
BEFORE_FREEZE, AFTER_FREEZE = "plan.before_freeze", "plan.frozen"


@dataclass(frozen=True, slots=True, kw_only=True)
class CrashSite:
    """An index at its first generations, a site that has changed since, and the export that is due."""

    sitegraph: Sitegraph
    source: Path
    first: Path
    expected: dict[str, Rows]

    def copy(self, folder: Path) -> Path:
        """The index before the change, to be disturbed."""
        return copy_index(self.first, folder / "index")

    def kill_at(self, point: str, index: Path) -> None:
        """Run, and die by SIGKILL at the named point; no child outlives the run."""
        arguments = ("run", str(self.source), "--index", str(index))
        with self.sitegraph.process(*arguments, SITEGRAPH_FAULT=f"{point}:kill") as process:
            _, said = process.communicate(timeout=300)
            assert process.returncode == -9, f"{point} was not reached: {said}"
            poll(lambda: None if _group_lives(process.pid) else True, timeout=120, what="the children to end")

    def finish(self, index: Path) -> None:
        """Run again, undisturbed; the index must be what it would have been without the crash."""
        report = self.sitegraph.run(self.source, index)
        assert report["published"]
        assert self.sitegraph.export(index) == self.expected
        assert self.sitegraph.damage(index) == ()


def change(handbook: Handbook) -> None:
    """Edit a page, add one, take one away."""
    handbook.edit(path_of("Leases"), "Losing Leases", "Whoever loses a lease pays the porter a silver coin.")
    handbook.write("/archives.html", topic_article("Archives", [("/leases.html", "back to leases")]))
    handbook.link(path_of("Guards"), "/archives.html", "the archives")
    handbook.remove(path_of("Tokens"), status=410)


@contextmanager
def crash_site(*programs: Sitegraph, folder: Path) -> Iterator[CrashSite]:
    """Make a generation with each program, change the site, and find out what the last one makes next."""
    with serve_handbook() as handbook:
        source = write_source(folder, handbook)
        for program in programs:
            program.run(source, folder / "first", accept=True)
        change(handbook)
        undisturbed = copy_index(folder / "first", folder / "undisturbed")
        sitegraph = programs[-1]
        assert sitegraph.run(source, undisturbed)["generation"] == len(programs) + 1
        yield CrashSite(
            sitegraph=sitegraph,
            source=source,
            first=folder / "first",
            expected=sitegraph.export(undisturbed),
        )


@pytest.fixture(scope="module")
def crashes(sitegraph: Sitegraph, tmp_path_factory: pytest.TempPathFactory) -> Iterator[CrashSite]:
    """One such site for the tests of a module."""
    with crash_site(sitegraph, folder=tmp_path_factory.mktemp("crashes")) as site:
        yield site


@pytest.fixture(scope="module")
def crashes_after_a_change_of_model(
    sitegraph: Sitegraph, tiny: Sitegraph, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[CrashSite]:
    """One whose index has changed its model, so that its generations have two tables of vectors."""
    with crash_site(sitegraph, tiny, folder=tmp_path_factory.mktemp("changed")) as site:
        yield site


def _group_lives(leader: int) -> bool:
    try:
        os.killpg(leader, 0)
    except ProcessLookupError:
        return False
    return True
