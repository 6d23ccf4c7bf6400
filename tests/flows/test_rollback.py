"""Rolling back, the hold, and what comes in again when it is lifted."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.copies import copy_index
from tests.fakes.handbook import Handbook, serve_handbook, topic_article, write_source
from tests.fakes.sitegraph_runs import Sitegraph

pytestmark = pytest.mark.server


@pytest.fixture(scope="module")
def handbook() -> Iterator[Handbook]:
    with serve_handbook() as served:
        yield served


@pytest.fixture(scope="module")
def changed(sitegraph: Sitegraph, handbook: Handbook, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an index at generation 2: a page edited, one added, one gone."""
    folder = tmp_path_factory.mktemp("changed")
    source = write_source(folder, handbook)
    sitegraph.run(source, folder / "index")
    handbook.edit("/leases.html", "Losing Leases", "Whoever loses a lease pays the porter a silver coin.")
    handbook.write("/archives.html", topic_article("Archives"))
    handbook.link("/guards.html", "/archives.html", "the archives")
    handbook.remove("/tokens.html", status=410)
    assert sitegraph.run(source, folder / "index")["generation"] == 2
    return folder


@pytest.fixture
def index(changed: Path, tmp_path: Path) -> Path:
    return copy_index(changed / "index", tmp_path / "index")


def test_after_a_rollback_readers_see_what_was_and_publishing_is_held(
    sitegraph: Sitegraph, changed: Path, index: Path
) -> None:
    first = sitegraph.export(index, generation=1)

    back = sitegraph.call("rollback", "--index", str(index))
    held = sitegraph.call("run", str(changed / "handbook.yaml"), "--index", str(index))

    assert back.returncode == 0
    assert "generation 1" in back.stdout
    assert sitegraph.export(index) == first
    assert sitegraph.damage(index) == ()
    assert held.returncode == 4
    assert "sitegraph rollback --lift" in held.stderr
    answer = sitegraph.call("query", "who pays a silver coin", "--index", str(index))
    assert "silver coin" not in answer.stdout


def test_the_run_after_the_hold_brings_the_changes_in_again(
    sitegraph: Sitegraph, handbook: Handbook, changed: Path, index: Path
) -> None:
    second = sitegraph.export(index)
    sitegraph.call("rollback", "--index", str(index))
    lifted = sitegraph.call("rollback", "--lift", "--index", str(index))

    report = sitegraph.run(changed / "handbook.yaml", index)

    assert lifted.returncode == 0
    assert report["http"]["status"]["304"] == len(handbook.articles), "the site itself did not change again"
    assert report["generation"] == 3, "numbers are never used again"
    assert {name: report["documents"][name] for name in ("added", "changed", "gone")} == {
        "added": 1,
        "changed": 2,
        "gone": 1,
    }
    assert report["chunks"]["embedded"] == 0
    assert sitegraph.export(index) == second
    assert sitegraph.damage(index) == ()


def test_a_rollback_that_dies_after_the_rename_holds_publishing_all_the_same(
    sitegraph: Sitegraph, changed: Path, index: Path
) -> None:
    second = sitegraph.export(index)

    died = sitegraph.command("rollback", "--index", str(index), SITEGRAPH_FAULT="rollback.renamed:kill")
    held = sitegraph.command("run", str(changed / "handbook.yaml"), "--index", str(index))
    report = sitegraph.run(changed / "handbook.yaml", index, accept=True)

    assert died.returncode == -9
    assert held.returncode == 4
    assert report["published"]
    assert sitegraph.export(index) == second
    assert sitegraph.damage(index) == ()


def test_there_is_nothing_to_go_back_to_before_the_first_generation(
    sitegraph: Sitegraph, index: Path
) -> None:
    sitegraph.call("rollback", "--index", str(index))

    done = sitegraph.call("rollback", "--index", str(index))

    assert done.returncode == 2
    assert "there is no earlier generation to go back to" in done.stderr
