"""Runs and their problems in the ledger, over SQLite files and a real PostgreSQL."""

import pytest

from indexes.stores.ledger.ledger import Ledger
from schemas.report import Problem
from tests.fakes.ledger_rows import ODD_NAME

MONDAY, TUESDAY, SUNDAY = (f"2026-01-{day}T00:00:00+00:00" for day in ("05", "06", "11"))


def test_a_run_that_never_finished_is_interrupted(ledger: Ledger) -> None:
    assert ledger.runs.interrupted("site", since=MONDAY) is None
    ledger.runs.start("run-1", source="site", now=MONDAY)

    assert ledger.runs.interrupted("site", since=MONDAY) == "run-1"
    assert ledger.runs.interrupted("other", since=MONDAY) is None


@pytest.mark.parametrize("state", ["finished", "failed"])
def test_a_run_that_ended_is_not_interrupted(ledger: Ledger, state: str) -> None:
    ledger.runs.start("run-1", source="site", now=MONDAY)
    ledger.runs.finish("run-1", state=state, now=TUESDAY, report=None)

    assert ledger.runs.interrupted("site", since=MONDAY) is None


def test_a_run_that_began_too_long_ago_is_not_resumed(ledger: Ledger) -> None:
    ledger.runs.start("run-1", source="site", now=MONDAY)

    assert ledger.runs.interrupted("site", since=TUESDAY) is None


def test_of_several_interrupted_runs_the_latest_is_resumed(ledger: Ledger) -> None:
    ledger.runs.start("run-b", source="site", now=TUESDAY)
    ledger.runs.start("run-a", source="site", now=MONDAY)

    assert ledger.runs.interrupted("site", since=MONDAY) == "run-b"


def test_the_run_of_each_source_that_began_last_is_told(ledger: Ledger) -> None:
    report = {"documents": {"added": 1}, "guard": None, "problems": [{"url": 'x"y', "reason": "λ"}]}
    for run_id, source, day in (
        ("run-2", "site", SUNDAY),
        ("run-1", "site", MONDAY),
        ("run-3", "o'neill", TUESDAY),
    ):
        ledger.runs.start(run_id, source=source, now=day)
        ledger.runs.finish(run_id, state="finished", now=day, report={**report, "run_id": run_id})

    latest = ledger.runs.latest_reports()

    assert {name: (run["started_at"], run["report"]["run_id"]) for name, run in latest.items()} == {
        "site": (SUNDAY, "run-2"),
        "o'neill": (TUESDAY, "run-3"),
    }
    assert latest["site"]["state"] == "finished"


def test_the_last_run_that_ended_well_of_each_source_is_told(ledger: Ledger) -> None:
    for run_id, source, state, day in (
        ("run-1", "site", "finished", MONDAY),
        ("run-2", "site", "finished", TUESDAY),
        ("run-3", "site", "refused", SUNDAY),
        ("run-4", "other", "refused", SUNDAY),
    ):
        ledger.runs.start(run_id, source=source, now=day)
        ledger.runs.finish(run_id, state=state, now=day, report=None)
    ledger.runs.start("run-5", source="site", now=SUNDAY)

    assert ledger.runs.last_finished() == {"site": TUESDAY}


def test_a_run_that_never_finished_is_told_with_what_ended_it(ledger: Ledger) -> None:
    ledger.runs.start("run-1", source="site", now=MONDAY)
    ledger.runs.finish("run-1", state="finished", now=SUNDAY, report={"problems": []})
    ledger.runs.start("run-2", source="site", now=TUESDAY)
    ledger.runs.note("run-2", {"reason": "the disk is full", "problems": []})

    assert ledger.runs.latest_reports()["site"] == {
        "state": "running",
        "started_at": TUESDAY,
        "finished_at": None,
        "report": {"reason": "the disk is full", "problems": []},
    }
    assert ledger.runs.interrupted("site", since=TUESDAY) == "run-2"


def test_who_has_lost_a_run_to_another_process_says_nothing_of_its_end(ledger: Ledger) -> None:
    ledger.runs.start("run-1", source="site", now=MONDAY)
    ledger.runs.finish("run-1", state="finished", now=TUESDAY, report={"generation": 3})

    ledger.runs.note("run-1", {"reason": "another run has taken over"})

    assert ledger.runs.latest_reports()["site"]["report"] == {"generation": 3}


def test_a_failed_run_may_end_without_a_report(ledger: Ledger) -> None:
    ledger.runs.start("run-1", source="site", now=MONDAY)
    ledger.runs.finish("run-1", state="failed", now=TUESDAY, report=None)

    latest = ledger.runs.latest_reports()["site"]
    assert (latest["state"], latest["finished_at"], latest["report"]) == ("failed", TUESDAY, None)


def test_problems_come_once_ordered_by_url_and_reason(ledger: Ledger) -> None:
    b, a2, a1 = (Problem(url=url, reason=reason) for url, reason in (("b", "x"), ("a", "y"), ("a", "x")))
    ledger.runs.add_problems("run-1", [b, a2, b])
    ledger.runs.add_problems("run-1", [a1, a2])
    ledger.runs.add_problems("run-1", [])

    assert ledger.runs.problems("run-1") == (a1, a2, b)
    assert ledger.runs.problems("run-2") == ()


def test_odd_names_are_data(ledger: Ledger) -> None:
    name = ODD_NAME
    ledger.runs.start(name, source=name, now=MONDAY)
    ledger.runs.add_problems(name, [Problem(url=name, reason=name)])

    assert ledger.runs.interrupted(name, since=MONDAY) == name
    assert ledger.runs.problems(name) == (Problem(url=name, reason=name),)


def test_a_problem_may_be_longer_than_any_index_entry(ledger: Ledger) -> None:
    import hashlib

    noise = "".join(hashlib.sha256(bytes([n])).hexdigest() for n in range(100))
    ledger.runs.add_problems("run-1", [Problem(url=noise, reason=noise)])

    assert ledger.runs.problems("run-1") == (Problem(url=noise, reason=noise),)


def test_the_runs_that_began_last_come_first(ledger: Ledger) -> None:
    for run_id, day in (("run-1", MONDAY), ("run-3", SUNDAY), ("run-2", TUESDAY)):
        ledger.runs.start(run_id, source="o'neill", now=day)
    ledger.runs.finish("run-2", state="finished", now=SUNDAY, report={"stages": {"crawl": 1.5}})

    found = ledger.runs.recent(limit=2)

    assert [(run.run_id, run.state, run.finished_at) for run in found] == [
        ("run-3", "running", None),
        ("run-2", "finished", SUNDAY),
    ]
    assert [run.report for run in found] == [None, {"stages": {"crawl": 1.5}}]
