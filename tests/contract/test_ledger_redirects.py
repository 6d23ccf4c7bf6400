"""Redirects as each generation follows them, over SQLite files and a real PostgreSQL."""

import pytest

from indexes.stores.ledger.generations import GenerationState
from indexes.stores.ledger.ledger import Ledger
from schemas.documents import DocumentState
from tests.fakes.ledger_rows import SITE, begin, make_known

OLD, NEW, OTHER, FAR = (f"{SITE}/{name}" for name in ("old", "new", "other", "far"))
UNSETTLED = ("new", "missing", "failed", "quarantined", "disallowed")
SETTLED = ("fetched", "not_modified", "gone", "out_of_scope", "duplicate")


def publish(ledger: Ledger, redirects: dict[str, str], *, base: int) -> int:
    """Take a generation with these redirects all the way."""
    number = begin(ledger, base=base)
    freeze(ledger, number, redirects)
    ledger.generations.mark(number, GenerationState.PUBLISHED)
    return number


def freeze(ledger: Ledger, number: int, redirects: dict[str, str]) -> None:
    ledger.generations.freeze(number, payloads=(), plan_sha="p", changes=(), details={}, redirects=redirects)


def know(ledger: Ledger, path: str, state: str, location: str | None = None, source: str = "site") -> None:
    known = make_known(path, state=DocumentState(state), location=location, source=source)
    ledger.documents.save([known])


def test_each_generation_holds_the_redirects_it_was_frozen_with(ledger: Ledger) -> None:
    frozen = [{OLD: NEW}, {OLD: OTHER, FAR: NEW}, {OLD: OTHER}, {}, {OLD: NEW}]
    for base, redirects in enumerate(frozen):
        publish(ledger, redirects, base=base)

    assert [ledger.redirects.at(number) for number in range(6)] == [{}, *frozen]


def test_after_a_rollback_the_next_generation_holds_its_own_and_the_others_stay(ledger: Ledger) -> None:
    for base, redirects in enumerate(({OLD: NEW, FAR: NEW}, {OLD: OTHER}, {FAR: OTHER})):
        publish(ledger, redirects, base=base)
    ledger.generations.roll_back(above=1)

    assert publish(ledger, {OLD: NEW, FAR: OTHER}, base=1) == 4
    assert [ledger.redirects.at(number) for number in (1, 2, 3, 4)] == [
        {OLD: NEW, FAR: NEW},
        {OLD: OTHER},
        {FAR: OTHER},
        {OLD: NEW, FAR: OTHER},
    ]


def test_aborting_and_freezing_again_leave_no_trace(ledger: Ledger) -> None:
    publish(ledger, {OLD: NEW}, base=0)
    number = begin(ledger, base=1)
    freeze(ledger, number, {OLD: OTHER, FAR: NEW})
    freeze(ledger, number, {FAR: OTHER})
    assert ledger.redirects.at(number) == {FAR: OTHER}
    ledger.generations.abort(number)

    assert ledger.redirects.at(number) == ledger.redirects.at(1) == {OLD: NEW}
    assert publish(ledger, {OLD: NEW}, base=1) == 3


def test_forgetting_keeps_what_the_kept_generations_hold(ledger: Ledger) -> None:
    frozen = [{OLD: NEW}, {OLD: OTHER}, {OLD: FAR}]
    for base, redirects in enumerate(frozen):
        publish(ledger, redirects, base=base)
    ledger.generations.forget_before(2)

    assert [ledger.redirects.at(number) for number in (1, 2, 3)] == [{}, *frozen[1:]]


def test_of_all_sources_that_know_a_redirect_the_first_by_name_counts(ledger: Ledger) -> None:
    know(ledger, "old", "redirected", NEW)
    know(ledger, "old", "redirected", OTHER, source="zoo")
    know(ledger, "there", "fetched")
    know(ledger, "far", "redirected", OTHER, source="zoo")

    assert ledger.redirects.after(0) == {OLD: NEW, FAR: OTHER}


@pytest.mark.parametrize("state", UNSETTLED)
def test_an_address_that_cannot_be_had_leads_where_it_led(ledger: Ledger, state: str) -> None:
    publish(ledger, {OLD: NEW}, base=0)
    know(ledger, "old", state)

    assert ledger.redirects.after(1) == {OLD: NEW}
    assert ledger.redirects.after(0) == {}


@pytest.mark.parametrize("state", SETTLED)
def test_an_address_that_is_something_else_by_now_leads_nowhere(ledger: Ledger, state: str) -> None:
    publish(ledger, {OLD: NEW}, base=0)
    know(ledger, "old", state)

    assert ledger.redirects.after(1) == {}


def test_what_nobody_knows_any_more_leads_nowhere_and_news_win(ledger: Ledger) -> None:
    publish(ledger, {OLD: NEW, FAR: NEW}, base=0)
    know(ledger, "old", "failed")
    know(ledger, "old", "redirected", OTHER, source="zoo")

    assert ledger.redirects.after(1) == {OLD: OTHER}
