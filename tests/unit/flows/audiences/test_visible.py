"""Rows of the whole index's ledger that an audience's ledger is to have."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

from flows.audiences.bring import plan_narrowed
from flows.audiences.visible import Closing, VisibleRows, bytes_to_bring, plan_visible
from flows.run.index import Index
from schemas.documents import DocumentState, KnownDocument
from tests.fakes.known import SITE, known, web_source

HIDDEN = f"{SITE}hidden"


def page(name: str, **fields: Any) -> KnownDocument:
    plain = {"state": DocumentState.FETCHED, "raw_sha": f"r-{name}", "parsed_sha": f"r-{name}"}
    return known(f"{SITE}{name}", **{**plain, "fragment_sha": f"f-{name}", **fields})


def planned(*rows: KnownDocument, held: tuple[KnownDocument, ...] = ()) -> VisibleRows:
    """What readers get who see all but what is hidden."""
    return plan_visible(
        rows, {one.uri: one for one in held}, may_see=lambda row: not row.uri.startswith(HIDDEN)
    )


def test_what_is_hidden_is_left_out_and_what_was_seen_goes() -> None:
    seen, hidden, gone = page("a"), page("hidden"), page("b")

    found = planned(seen, hidden, held=(hidden, gone))

    assert (found.rows, found.save, found.bring) == ((seen,), (seen,), (seen,))
    assert (found.remove, found.hidden) == ((gone.uri, hidden.uri), (hidden.uri,))
    assert found.changes


def test_what_was_never_parsed_may_say_whom_it_is_for() -> None:
    failed = page("a", state=DocumentState.FAILED, fragment_sha=None)
    assert planned(failed).rows == ()


def test_a_look_that_found_all_as_it_was_is_no_change() -> None:
    before = page("a", run_id="1", checked_at="2026-03-01T00:00:00+00:00")
    after = replace(before, run_id="2", state=DocumentState.NOT_MODIFIED, http_status=304, unmodified=1)

    found = planned(after, held=(before,))

    assert (found.save, found.bring) == ((after,), ())
    assert not found.changes
    assert planned(replace(after, content_hash="other"), held=(before,)).changes


def test_no_row_names_the_address_of_a_hidden_document() -> None:
    hidden = page("hidden")
    led = page("a", found_by=hidden.uri)
    moved = page("b", state=DocumentState.GONE, location=hidden.uri)

    assert {(row.found_by, row.location) for row in planned(hidden, led, moved).rows} == {(None, None)}


def test_no_row_names_the_address_of_what_another_source_closes() -> None:
    hidden = page("hidden")
    held = (hidden, page("a", found_by=hidden.uri), page("b", state=DocumentState.GONE, location=hidden.uri))
    documents = SimpleNamespace(of_source=lambda _: held)
    index = cast("Index", SimpleNamespace(ledger=SimpleNamespace(documents=documents)))
    closings = {("handbook", hidden.uri): Closing(frozenset({frozenset({"hr"})}), None)}

    found = plan_narrowed(index, frozenset(), web_source(), closings)

    assert (found.remove, found.hidden, found.bring) == ((hidden.uri,), (hidden.uri,), ())
    assert [(row.found_by, row.location) for row in found.save] == [(None, None), (None, None)]
    assert found.rows == found.save


def test_a_redirect_is_seen_that_leads_to_what_is_seen_or_out_of_the_source() -> None:
    def redirect(name: str, to: str) -> KnownDocument:
        return known(f"{SITE}{name}", state=DocumentState.REDIRECTED, location=to)

    rows = (
        page("a"),
        page("hidden"),
        redirect("to-a", f"{SITE}a"),
        redirect("to-hidden", HIDDEN),
        redirect("through", f"{SITE}to-hidden"),
        redirect("out", "https://elsewhere.example/"),
    )
    assert [row.uri.removeprefix(SITE) for row in planned(*rows).rows] == ["a", "out", "to-a"]


def test_bytes_are_brought_that_were_read_and_kept() -> None:
    rows = (
        page("a"),
        page("newer", raw_sha="r-unread"),
        page("secret", withheld=True, secrets=1),
        page("gone", state=DocumentState.GONE),
    )
    assert bytes_to_bring(rows) == ({"r-a"}, {"f-a", "f-newer", "f-secret"})
