"""Documents that a run did not follow are counted once each, over both databases."""

import pytest

from indexes.stores.ledger import frontier
from indexes.stores.ledger.frontier import StopCount
from indexes.stores.ledger.ledger import Ledger
from schemas.report import Problem
from tests.fakes.ledger_rows import SITE

FULL, DEEP = "max_pages 3 reached", "deeper than max_depth 2"


def stopped(reason: str, *paths: str) -> list[Problem]:
    return [Problem(url=f"{SITE}/{path}", reason=reason) for path in paths]


def test_a_document_met_in_many_batches_is_counted_once(ledger: Ledger) -> None:
    ledger.stops.add("run-1", stopped(FULL, "b", "a", "b"))
    ledger.stops.add("run-1", [*stopped(FULL, "c", "a"), *stopped(DEEP, "o'neill")])
    ledger.stops.add("run-2", stopped(FULL, "a"))
    ledger.stops.add("run-1", [])

    assert ledger.stops.counts("run-1") == (
        StopCount(reason=DEEP, documents=1, example=f"{SITE}/o'neill"),
        StopCount(reason=FULL, documents=3, example=f"{SITE}/a"),
    )
    assert ledger.stops.counts("run-3") == ()


def test_an_endless_trap_does_not_fill_the_ledger(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frontier, "KEPT", 5)
    for batch in range(4):
        ledger.stops.add("run-1", stopped(FULL, *(f"{batch}-{n}" for n in range(3))))
    (count,) = ledger.stops.counts("run-1")
    assert 5 <= count.documents < 10


def test_what_runs_that_are_over_had_stopped_at_is_forgotten(ledger: Ledger) -> None:
    for run_id in ("run-1", "run-2"):
        ledger.runs.start(run_id, source="site", now="2026-01-01T00:00:00+00:00")
        ledger.stops.add(run_id, stopped(FULL, "a"))
    ledger.runs.finish("run-1", state="finished", now="2026-01-01T00:01:00+00:00", report=None)

    ledger.stops.forget_ended()

    assert ledger.stops.counts("run-1") == ()
    assert len(ledger.stops.counts("run-2")) == 1
