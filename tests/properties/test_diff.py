"""Laws of the diff: applied, it gives what was wanted; repeated, it finds nothing; counts add up."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.diff.documents import (
    count_outcomes,
    diff_document,
    diff_documents,
    leads_somewhere,
    run_outcome,
)
from ingest.diff.guard import MAX_REMOVED, removal_refusal
from ingest.diff.lifecycle import after_fetch
from ingest.diff.rows import diff_chunks, diff_rows
from schemas.changes import ChangeKind, DocumentChange
from schemas.documents import REMOVED, DocumentState, KnownDocument, LiveDocument, Outcome
from schemas.fetch import FetchResult, FetchStatus
from schemas.nodes import Chunk
from schemas.source import GoneAfter
from tests.fakes.graph_samples import make_chunk
from tests.fakes.known import nowhere

NOW = datetime(2026, 3, 1, tzinfo=UTC)
NO_EVIDENCE = (FetchStatus.FAILED, FetchStatus.REFUSED, FetchStatus.DISALLOWED, FetchStatus.NOT_MODIFIED)
"""Answers from which nobody may conclude that a document is gone."""

rows = st.lists(
    st.builds(make_chunk, st.sampled_from(["a", "b", "c", "d"]), ordinal=st.integers(0, 2)),
    unique_by=lambda chunk: chunk.id,
)
shas = st.sampled_from(["s1", "s2"])
known_documents = st.builds(
    KnownDocument,
    source=st.sampled_from(["site", "wiki"]),
    uri=st.sampled_from(["u1", "u2", "u3"]),
    state=st.sampled_from(DocumentState),
    doc=st.sampled_from([None, "page:1", "page:2", "page:3"]),
    raw_sha=st.none() | shas,
    parsed_sha=st.none() | shas,
    fragment_sha=st.none() | shas,
    content_hash=st.none() | shas,
)
live_documents = st.builds(
    LiveDocument,
    doc=st.sampled_from(["page:1", "page:2", "page:3"]),
    source=st.just("site"),
    uri=st.just("u"),
    fragment_sha=shas,
    content_hash=shas,
)

URIS = st.sampled_from(["u1", "u2", "u3"])


def docs_at(uri: str) -> st.SearchStrategy[str]:
    """Node ids that an address can have: one for a page, one for a PDF in its place."""
    return st.sampled_from([f"page:{uri}", f"pdfdoc:{uri}"])


known_at_addresses = URIS.flatmap(
    lambda uri: st.builds(
        KnownDocument,
        source=st.just("site"),
        uri=st.just(uri),
        state=st.sampled_from(DocumentState),
        doc=st.none() | docs_at(uri),
        raw_sha=st.none() | shas,
        parsed_sha=st.none() | shas,
        fragment_sha=st.none() | shas,
        content_hash=st.none() | shas,
        failures=st.sampled_from([0, 3]),
        location=st.none() | URIS,
        moves=st.sampled_from([0, 1]),
    )
)
live_at_addresses = URIS.flatmap(
    lambda uri: st.builds(
        LiveDocument,
        doc=docs_at(uri),
        source=st.just("site"),
        uri=st.just(uri),
        fragment_sha=shas,
        content_hash=shas,
        stale=st.booleans(),
        aliases=st.lists(URIS, unique=True, max_size=2).map(tuple),
    )
)


def applied(current: list[Chunk], upserts: tuple[Chunk, ...], deletes: tuple[str, ...]) -> dict[str, Chunk]:
    """What a store holds after the changes."""
    kept = {chunk.id: chunk for chunk in current if chunk.id not in deletes}
    return kept | {chunk.id: chunk for chunk in upserts}


@settings(deadline=None)
@given(rows, rows)
def test_a_diff_applied_to_what_is_held_gives_what_is_wanted(wanted: list[Chunk], held: list[Chunk]) -> None:
    after = applied(held, *diff_rows(wanted, held))
    assert after == {chunk.id: chunk for chunk in wanted}


@settings(deadline=None)
@given(rows, rows)
def test_a_diff_is_sorted_and_touches_no_row_that_stays(wanted: list[Chunk], held: list[Chunk]) -> None:
    upserts, deletes = diff_rows(wanted, held)
    assert [chunk.id for chunk in upserts] == sorted(chunk.id for chunk in upserts)
    assert list(deletes) == sorted(deletes)
    assert not set(upserts) & set(held)


@settings(deadline=None)
@given(rows, rows)
def test_a_second_diff_finds_nothing(wanted: list[Chunk], held: list[Chunk]) -> None:
    upserts, deletes, _ = diff_chunks(wanted, held, changed_at="2026-03-01")
    after = list(applied(held, upserts, deletes).values())
    assert diff_chunks(wanted, after, changed_at="2027-01-01") == ((), (), 0)


@settings(deadline=None)
@given(rows, rows)
def test_chunks_added_and_removed_account_for_every_chunk(wanted: list[Chunk], held: list[Chunk]) -> None:
    _, deletes, added = diff_chunks(wanted, held, changed_at="2026-03-01")
    assert len(held) + added - len(deletes) == len(wanted)


@settings(deadline=None)
@given(st.lists(st.tuples(known_documents, st.sampled_from([None, *ChangeKind]), st.booleans())))
def test_outcomes_add_up_to_what_was_scheduled(
    looked_at: list[tuple[KnownDocument, ChangeKind | None, bool]],
) -> None:
    outcomes = [
        run_outcome(known, _change(kind), owned=owned, shown=owned) for known, kind, owned in looked_at
    ]
    counts = count_outcomes([known for known, _, _ in looked_at], outcomes)
    assert sum(counts[outcome.value] for outcome in Outcome) == counts["scheduled"] == len(looked_at)
    assert 0 <= counts["fetched"] <= counts["scheduled"] - counts["not_modified"]


@settings(deadline=None)
@given(
    st.lists(known_at_addresses, unique_by=lambda known: known.uri),
    st.lists(live_at_addresses, unique_by=lambda live: live.uri),
)
def test_documents_of_the_next_generation_are_those_that_changed_and_those_that_did_not(
    mine: list[KnownDocument], base: list[LiveDocument]
) -> None:
    live = {document.doc: document for document in base}
    changes = diff_documents(mine, live, dict.fromkeys(live, "site"), in_scope=nowhere)
    after = dict(live)
    for change in changes:
        if change.new is None:
            after.pop(change.doc)
        else:
            after[change.doc] = change.new
    assert diff_documents(mine, after, dict.fromkeys(after, "site"), in_scope=nowhere) == ()
    by_uri = {document.uri: document for document in mine}
    gone = {d.doc for d in mine if d.state in REMOVED and leads_somewhere(d, by_uri, nowhere)}
    assert not gone & after.keys()


@settings(deadline=None)
@given(known_documents, st.none() | live_documents)
def test_a_document_that_could_not_be_had_changes_nothing_but_the_mark_that_it_is_stale(
    known: KnownDocument, old: LiveDocument | None
) -> None:
    for state in (DocumentState.FAILED, DocumentState.MISSING, DocumentState.DISALLOWED, DocumentState.NEW):
        change = diff_document(replace(known, state=state), old)
        assert change is None or (old is not None and change.new == replace(old, stale=True))


@settings(deadline=None)
@given(st.integers(0, 400), st.integers(0, 400))
def test_the_guard_lets_a_fifth_go_and_no_more(removed: int, live: int) -> None:
    changes = [_change(ChangeKind.REMOVED)] * min(removed, live)
    refused = removal_refusal([c for c in changes if c], live=live) is not None
    assert refused == (live > 0 and min(removed, live) * round(1 / MAX_REMOVED) > live)


@settings(deadline=None)
@given(
    st.sampled_from(DocumentState),
    st.lists(st.tuples(st.sampled_from(NO_EVIDENCE), st.integers(0, 10**6)), min_size=1, max_size=6),
)
def test_no_row_of_timeouts_makes_a_document_gone(
    state: DocumentState, looks: list[tuple[FetchStatus, int]]
) -> None:
    known, now = KnownDocument(source="site", uri="u", state=state, misses=1, missed_at=NOW.isoformat()), NOW
    for status, hours in looks:
        now += timedelta(hours=hours)
        known = after_fetch(
            known,
            _result(status),
            raw_sha=None,
            run_id="r",
            now=now,
            gone_after=GoneAfter(misses=1, hours=0),
            conditional=False,
        )
        assert known.state is not DocumentState.GONE


def _result(status: FetchStatus) -> FetchResult:
    return FetchResult(url="u", status=status, requests=1)


def _change(kind: ChangeKind | None) -> DocumentChange | None:
    if kind is None:
        return None
    live = LiveDocument(doc="page:1", source="site", uri="u", fragment_sha="s1", content_hash="s1")
    gone = kind is ChangeKind.REMOVED
    return DocumentChange(kind=kind, old=live, new=None if gone else live)
