"""Questions are asked of a generation before it is published: what has lost its evidence holds it."""

import json
import xml.etree.ElementTree as Tree
from pathlib import Path

import pytest

from indexes.publish.current import read_current
from schemas.errors import PublishHeld
from tests.fakes.handbook import Handbook, path_of, write_source
from tests.fakes.sitegraph_runs import Sitegraph, assert_equals_clean_rebuild

pytestmark = pytest.mark.server

LOSING = "Losing Leases"
FIVE_TIMES = "When leases are lost, the night porter rings the bell five times."


def write_checks(folder: Path, handbook: Handbook, *, on_failure: str = "hold") -> Path:
    """Two questions of which the site has the answer, and one that nothing answers."""
    path = folder / "questions.yaml"
    path.write_text(
        f"on_failure: {on_failure}\nquestions:\n"
        "- id: bell\n  question: What happens when leases are lost?\n"
        f"  cites: {handbook.site.url(path_of('Leases'))}#losing-leases\n"
        "  states: The night porter rings the bell twice.\n"
        "- id: wing\n  question: Where are ledgers kept?\n"
        f"  cites: {handbook.site.url(path_of('Ledgers'))}\n"
        "  states: Ledgers are kept in the north wing of the house.\n"
        "- id: price\n  question: How much does a helicopter cost in Brazil?\n  answered: false\n"
    )
    return path


@pytest.fixture
def checked(handbook: Handbook, tmp_path: Path) -> Path:
    """The source file of the handbook, which names its questions."""
    write_checks(tmp_path, handbook)
    return write_source(tmp_path, handbook, more="checks: questions.yaml\n")


def test_a_changed_fact_holds_the_publish_until_it_is_accepted(
    sitegraph: Sitegraph, handbook: Handbook, checked: Path, index: Path
) -> None:
    handbook.edit(path_of("Leases"), LOSING, FIVE_TIMES)

    with pytest.raises(PublishHeld, match=r"1 of 3 questions .*'What happens when leases are lost\?'"):
        sitegraph.run(checked, index)

    assert read_current(index) == 1
    held = sitegraph.call("check", "--held", "--index", str(index))
    assert held.returncode == 0
    assert "- The night porter rings the bell twice." in held.stdout
    assert f"+ {FIVE_TIMES}" in held.stdout
    with pytest.raises(PublishHeld):  # and the next run finds no generation to finish
        sitegraph.run(checked, index)
    assert read_current(index) == 1

    report = sitegraph.run(checked, index, accept=True)

    assert report["published"]
    assert report["checks"] == {"asked": 3, "passed": 2, "lost": 1, "held": False}
    assert_equals_clean_rebuild(sitegraph, checked, index)


def test_a_held_run_ends_with_exit_code_4_and_shows_what_was_lost(
    sitegraph: Sitegraph, handbook: Handbook, checked: Path, index: Path
) -> None:
    handbook.remove(path_of("Ledgers"), status=410)

    done = sitegraph.call("run", str(checked), "--index", str(index))

    assert done.returncode == 4, done.stderr
    assert "Where are ledgers kept?" in done.stderr
    assert "- Ledgers are kept in the north wing" in done.stderr
    assert f"cites: {handbook.site.url(path_of('Ledgers'))}: is gone" in done.stderr
    assert "sitegraph check --held" in done.stderr


@pytest.mark.long
def test_what_nothing_asks_for_is_published(
    sitegraph: Sitegraph, handbook: Handbook, checked: Path, index: Path
) -> None:
    handbook.edit(path_of("Guards"), "Losing Guards", "Whoever loses a guard whistles for the dog.")

    report = sitegraph.run(checked, index)

    assert report["published"]
    assert report["checks"] == {"asked": 3, "passed": 3, "lost": 0, "held": False}


def test_a_run_without_a_change_asks_nothing(sitegraph: Sitegraph, checked: Path, index: Path) -> None:
    assert sitegraph.run(checked, index)["checks"] == {"asked": 0, "passed": 0, "lost": 0, "held": False}


def test_what_is_only_reported_is_published(
    sitegraph: Sitegraph, handbook: Handbook, checked: Path, index: Path
) -> None:
    write_checks(checked.parent, handbook, on_failure="report")
    handbook.edit(path_of("Leases"), LOSING, "Nobody has ever lost one of these, and nobody will.")

    report = sitegraph.run(checked, index)

    assert report["published"]
    assert report["checks"] == {"asked": 3, "passed": 2, "lost": 1, "held": False}


def test_what_a_crash_left_verified_is_asked_before_it_is_published(
    sitegraph: Sitegraph, handbook: Handbook, checked: Path, index: Path
) -> None:
    handbook.edit(path_of("Leases"), LOSING, "When leases are lost, nobody rings a bell.")
    arguments = ("run", str(checked), "--index", str(index))
    assert sitegraph.command(*arguments, SITEGRAPH_FAULT="verify.passed:kill").returncode == -9

    with pytest.raises(PublishHeld):
        sitegraph.run(checked, index)

    assert read_current(index) == 1


def test_check_asks_the_current_generation(
    sitegraph: Sitegraph, handbook: Handbook, checked: Path, index: Path
) -> None:
    questions = str(checked.parent / "questions.yaml")
    good = sitegraph.call("check", questions, "--index", str(index), "--format", "json")
    assert good.returncode == 0, good.stderr
    assert json.loads(good.stdout)["passed"] == 3

    handbook.edit(path_of("Leases"), LOSING, FIVE_TIMES)
    sitegraph.run(checked, index, accept=True)
    bad = sitegraph.call("check", "--index", str(index), "--format", "junit")

    assert bad.returncode == 1
    suite = Tree.fromstring(bad.stdout).find("testsuite")
    assert suite is not None
    assert (suite.get("tests"), suite.get("failures")) == ("3", "1")
    (failure,) = suite.iter("failure")
    assert "five times" in (failure.text or "")


def test_questions_are_proposed_from_the_log(
    sitegraph: Sitegraph, handbook: Handbook, checked: Path, index: Path
) -> None:
    for question in ("Where are vectors kept?", "where are  vectors kept?", "How are tokens lost?"):
        assert sitegraph.call("query", question, "--index", str(index)).returncode == 0

    proposed = sitegraph.call("check", "--from-log", "--index", str(index))

    assert proposed.returncode == 0, proposed.stderr
    assert proposed.stdout.index("Where are vectors kept?") < proposed.stdout.index("How are tokens lost?")
    assert proposed.stdout.count("ectors kept?") == 1
    listed = sitegraph.call("check", "--from-log", "--index", str(index), "--format", "json")
    assert [(one["question"], one["asked"]) for one in json.loads(listed.stdout)["questions"]] == [
        ("Where are vectors kept?", 2),
        ("How are tokens lost?", 1),
    ]
    assert sitegraph.call("check", "--from-log", "--index", str(index), "--format", "junit").returncode == 2
    review = checked.parent / "proposed.yaml"
    review.write_text(proposed.stdout)
    assert sitegraph.call("check", str(review), "--index", str(index)).returncode == 0
    again = sitegraph.call("check", str(review), "--from-log", "--index", str(index))
    assert again.stdout.endswith("questions: []\n")
