"""What a run looked at, and when to look again, over both databases."""

from dataclasses import replace

from indexes.stores.ledger.frontier import SeenDocument
from indexes.stores.ledger.ledger import Ledger
from schemas.documents import REMOVED, DocumentState
from schemas.report import SecretCounts
from tests.fakes.ledger_rows import SITE, full_known, make_known


def test_a_run_is_told_what_it_looked_at_and_nothing_else(ledger: Ledger) -> None:
    mine, other = replace(full_known(), source="site", run_id="run-2"), make_known("a", run_id="run-1")
    ledger.documents.save([mine, other, make_known("b"), make_known("a", source="other", run_id="run-2")])

    (seen,) = ledger.seen.of_run("site", "run-2")

    assert seen == SeenDocument(**{name: getattr(mine, name) for name in SeenDocument.__slots__})


def test_rescheduling_changes_nothing_but_the_time_and_the_worth_of_claims(ledger: Ledger) -> None:
    before = replace(full_known(), source="site", run_id="run-2", state=DocumentState.FETCHED)
    ledger.documents.save([before, make_known("a", run_id="run-2")])
    (_, seen) = sorted(ledger.seen.of_run("site", "run-2"), key=lambda one: one.uri == before.uri)

    later = replace(seen, interval=60.0, next_due="2027-01-01", lastmod_then="2026", lastmod_held=False)
    ledger.seen.reschedule("site", [replace(later, reason="not this")])
    ledger.seen.reschedule("site", [])

    after = {known.uri: known for known in ledger.documents.of_source("site")}
    changed = {"interval": 60.0, "next_due": "2027-01-01", "lastmod_then": "2026", "lastmod_held": False}
    assert after[before.uri] == replace(before, **changed)
    assert after[f"{SITE}/a"] == make_known("a", run_id="run-2")


def test_what_is_missing_is_told_of_the_whole_source_whoever_looked(ledger: Ledger) -> None:
    states = [make_known(state.value, state=state, run_id="run-1") for state in DocumentState]
    again = make_known("a", state=DocumentState.MISSING, run_id="run-2")
    ledger.documents.save([*states, again, replace(again, source="other")])

    assert ledger.seen.missing("site") == (f"{SITE}/a", f"{SITE}/missing")
    assert ledger.seen.missing("none") == ()


def test_secrets_are_counted_of_all_that_has_not_left_the_source(ledger: Ledger) -> None:
    assert ledger.seen.secrets("site") == SecretCounts()
    holding = [make_known(state.value, state=state, secrets=2) for state in DocumentState]
    ledger.documents.save([*holding, make_known("none"), make_known("a", source="other", secrets=7)])

    left = len(DocumentState) - len(REMOVED)
    assert ledger.seen.secrets("site") == SecretCounts(values=2 * left, documents=left)
