"""The ledger against the base generation, document by document."""

from typing import Any

import pytest

from ingest.diff.documents import count_outcomes, diff_document, diff_documents, is_held, run_outcome
from schemas.changes import ChangeKind, DocumentChange
from schemas.documents import DocumentState as S
from schemas.documents import KnownDocument, LiveDocument, Outcome
from schemas.nodes import DateOrigin
from tests.fakes.known import SITE, known, live, nowhere


def read(**fields: Any) -> KnownDocument:
    """A document that was fetched and parsed."""
    plain = {"state": S.FETCHED, "doc": "page:1", "raw_sha": "r1", "parsed_sha": "r1"}
    return known(**{**plain, "fragment_sha": "f1", "content_hash": "c1", **fields})


@pytest.mark.parametrize(
    ("document", "old", "kind"),
    [
        (read(), None, ChangeKind.ADDED),
        (read(), live(), None),
        (read(state=S.NOT_MODIFIED), live(), None),
        (read(state=S.NOT_MODIFIED), None, ChangeKind.ADDED),  # rolled back since: a 304 must not hide it
        (read(fragment_sha="f2", content_hash="c2"), live(), ChangeKind.CHANGED),
        (read(fragment_sha="f2"), live(), ChangeKind.REFRESHED),
        (read(parsed_sha="r0"), live(fragment_sha="f0"), None),  # bytes that have not been parsed yet
        (read(fragment_sha=None), None, None),
        (read(state=S.GONE), live(), ChangeKind.REMOVED),
        (read(state=S.GONE), None, None),
        (read(state=S.OUT_OF_SCOPE), live(), ChangeKind.REMOVED),
        (read(state=S.REDIRECTED), live(), ChangeKind.REMOVED),
        (read(state=S.DUPLICATE), live(), ChangeKind.REMOVED),
        (read(state=S.MISSING), live(), None),
        (read(state=S.FAILED, fragment_sha="f2"), live(), None),
        (read(state=S.QUARANTINED, fragment_sha="f2"), live(), ChangeKind.REFRESHED),
        (read(state=S.QUARANTINED), live(stale=True), None),
        (read(state=S.QUARANTINED), None, None),
        (read(state=S.DISALLOWED), live(), ChangeKind.REFRESHED),
        (read(), live(stale=True), ChangeKind.REFRESHED),
        (read(state=S.NEW), None, None),
    ],
)
def test_a_document_changes_by_its_state_and_its_hashes(
    document: KnownDocument, old: LiveDocument | None, kind: ChangeKind | None
) -> None:
    change = diff_document(document, old)
    assert (change.kind if change else None) is kind


@pytest.mark.parametrize(
    ("document", "stale"),
    [
        (read(state=S.QUARANTINED), True),
        (read(state=S.DISALLOWED), True),
        (read(state=S.UNSUPPORTED, raw_sha=None), True),
        (read(state=S.FAILED, failures=2), False),
        (read(state=S.FAILED, failures=3), True),
        (read(state=S.MISSING, misses=1), False),  # a 404 to be confirmed is no answer yet
        (read(state=S.NEW), False),
        (read(), False),
    ],
)
def test_the_last_good_version_is_marked_once_it_is_known_to_be_an_old_one(
    document: KnownDocument, stale: bool
) -> None:
    change = diff_document(document, live(fetched_at="January"))
    after = change.new if change else live(fetched_at="January")
    assert after == live(fetched_at="January", stale=stale)


@pytest.mark.parametrize("state", [S.MISSING, S.FAILED, S.NEW, S.QUARANTINED])
def test_a_mark_stays_until_good_content_comes(state: S) -> None:
    assert diff_document(read(state=state), live(stale=True)) is None


@pytest.mark.parametrize(
    ("document", "held"),
    [
        (read(state=S.FAILED, failures=2), True),
        (read(state=S.FAILED, failures=3), False),
        (read(state=S.MISSING), True),
        (read(state=S.MISSING, content_hash="c2"), False),  # of bytes that readers never saw
        (read(state=S.QUARANTINED), False),
        (read(state=S.GONE), False),
        (read(), False),
    ],
)
def test_a_bad_day_holds_what_readers_see(document: KnownDocument, held: bool) -> None:
    assert is_held(document, live()) is held


def test_a_page_in_the_place_of_a_quarantined_pdf_does_not_push_it_out() -> None:
    login = read(doc="page:1", fragment_sha="f2", content_hash="c2", state=S.QUARANTINED, reason="a login")
    held = live("pdfdoc:1")
    (change,) = diff_documents([login], {"pdfdoc:1": held}, {"pdfdoc:1": "handbook"}, in_scope=nowhere)
    assert (change.kind, change.doc, change.reason) == (ChangeKind.REFRESHED, "pdfdoc:1", "a login")


def test_a_page_keeps_its_content_and_gains_the_addresses_that_lead_to_it() -> None:
    new = read(uri="https://x.example/new", doc="page:2")
    old = read(uri="https://x.example/old", state=S.GONE, location=new.uri)
    held = {"page:1": live(uri=old.uri), "page:2": live("page:2", uri=new.uri)}
    gone, kept = diff_documents([old, new], held, dict.fromkeys(held, "handbook"), in_scope=nowhere)
    assert (gone.kind, gone.successor) == (ChangeKind.REMOVED, "page:2")
    assert (kept.kind, kept.new) == (ChangeKind.REFRESHED, live("page:2", uri=new.uri, aliases=(old.uri,)))
    again = diff_documents([old, new], {"page:2": kept.live}, {"page:2": "handbook"}, in_scope=nowhere)
    assert again == ()


def test_a_page_that_redirects_to_other_content_has_no_successor() -> None:
    new = read(uri="https://x.example/new", doc="page:2", content_hash="c2", fragment_sha="f2")
    old = read(uri="https://x.example/old", state=S.REDIRECTED, location=new.uri, moves=1)
    gone, _ = diff_documents(
        [old, new], {"page:1": live(uri=old.uri)}, {"page:1": "handbook"}, in_scope=nowhere
    )
    assert (gone.kind, gone.successor) == (ChangeKind.REMOVED, None)


def test_a_removal_says_why() -> None:
    gone = diff_document(read(state=S.GONE, reason="410"), live())
    silent = diff_document(read(state=S.GONE), live())
    assert gone is not None
    assert silent is not None
    assert (gone.reason, silent.reason, gone.new) == ("410", "gone", None)


@pytest.mark.parametrize(("content_hash", "fetched_at"), [("c1", "January"), ("c2", "March")])
def test_equal_content_keeps_the_time_it_first_came_with(content_hash: str, fetched_at: str) -> None:
    row = {"fetched_modified": "2026-03-01T00:00:00+00:00", "fetched_origin": DateOrigin.HTTP}
    held = {"last_modified": "2026-01-01T00:00:00+00:00", "last_modified_origin": DateOrigin.HTTP}
    document = read(fragment_sha="f2", content_hash=content_hash, fetched_at="March", **row)
    change = diff_document(document, live(fetched_at="January", **held))
    assert change is not None
    assert change.new is not None
    dates = {"January": held["last_modified"], "March": row["fetched_modified"]}
    assert (change.new.fetched_at, change.new.last_modified) == (fetched_at, dates[fetched_at])
    assert (change.new.fragment_sha, change.new.content_hash) == ("f2", content_hash)


def test_a_document_that_another_source_holds_stays_there() -> None:
    document = read(fragment_sha="f2", content_hash="c2")
    assert diff_documents([document], {}, {"page:1": "wiki"}, in_scope=nowhere) == ()
    assert len(diff_documents([document], {}, {}, in_scope=nowhere)) == 1


def test_a_page_that_became_a_pdf_is_one_removed_and_one_added() -> None:
    document = read(doc="pdfdoc:1", fragment_sha="f2", content_hash="c2")
    changes = diff_documents([document], {"page:1": live()}, {"page:1": "handbook"}, in_scope=nowhere)
    assert [(c.kind, c.doc) for c in changes] == [
        (ChangeKind.REMOVED, "page:1"),
        (ChangeKind.ADDED, "pdfdoc:1"),
    ]
    assert changes[0].reason == "no longer part of the source"


@pytest.mark.parametrize(
    ("targets", "removed"),
    [
        ((), True),  # out of scope, so not in the ledger
        ((known("https://x.example/b", state=S.FETCHED),), True),
        ((known("https://x.example/b", state=S.FAILED),), False),
        ((known("https://x.example/b", state=S.MISSING),), False),
        ((known("https://x.example/b", state=S.REDIRECTED, location="https://x.example/a"),), False),
        (
            (
                known("https://x.example/b", state=S.REDIRECTED, location="https://x.example/c"),
                known("https://x.example/c", state=S.NOT_MODIFIED),
            ),
            True,
        ),
    ],
)
def test_a_page_goes_by_a_redirect_only_if_that_ends_somewhere(
    targets: tuple[KnownDocument, ...], removed: bool
) -> None:
    page = known("https://x.example/a", doc="page:1", state=S.REDIRECTED, location="https://x.example/b")
    old = live("page:1", uri="https://x.example/a")

    found = diff_documents([page, *targets], {"page:1": old}, {"page:1": page.source}, in_scope=nowhere)
    assert [change.kind for change in found] == ([ChangeKind.REMOVED] if removed else [])


def test_a_page_stays_whose_redirect_nobody_followed_though_it_is_in_scope() -> None:
    page = known(SITE + "a", doc="page:1", state=S.REDIRECTED, location=SITE + "b")
    base = {"page:1": live("page:1", uri=page.uri)}
    owners = {"page:1": page.source}
    assert diff_documents([page], base, owners, in_scope=lambda uri: uri == page.location) == ()
    assert len(diff_documents([page], base, owners, in_scope=nowhere)) == 1


def test_a_failed_document_is_not_taken_for_an_orphan() -> None:
    assert (
        diff_documents([read(state=S.FAILED)], {"page:1": live()}, {"page:1": "handbook"}, in_scope=nowhere)
        == ()
    )


@pytest.mark.parametrize(
    ("document", "kind", "owned", "outcome"),
    [
        (read(), ChangeKind.ADDED, True, Outcome.ADDED),
        (read(), ChangeKind.CHANGED, True, Outcome.CHANGED),
        (read(), ChangeKind.REFRESHED, True, Outcome.UNCHANGED),
        (read(), None, True, Outcome.UNCHANGED),
        (read(), None, False, Outcome.DUPLICATE),
        (read(state=S.NEW), None, True, Outcome.FAILED),
        (read(state=S.GONE), ChangeKind.REMOVED, True, Outcome.GONE),
        (read(state=S.MISSING), None, True, Outcome.MISSING),
        (read(state=S.FAILED), None, False, Outcome.FAILED),
        (read(state=S.REDIRECTED), ChangeKind.REMOVED, True, Outcome.REDIRECTED),
        (read(state=S.DISALLOWED), None, True, Outcome.DISALLOWED),
        (read(state=S.REDIRECTED, moves=2), None, True, Outcome.MOVED),
        (read(state=S.GONE, location=f"{SITE}new"), ChangeKind.REMOVED, True, Outcome.MOVED),
        (read(state=S.DUPLICATE, location=SITE), None, True, Outcome.DUPLICATE),
        (read(state=S.OUT_OF_SCOPE), None, True, Outcome.OUT_OF_SCOPE),
    ],
)
def test_a_document_has_one_outcome(
    document: KnownDocument, kind: ChangeKind | None, owned: bool, outcome: Outcome
) -> None:
    new = None if kind is ChangeKind.REMOVED else live()
    change = DocumentChange(kind=kind, old=live(), new=new) if kind else None
    assert run_outcome(document, change, owned=owned, shown=True) is outcome
    nowhere = outcome in (Outcome.GONE, Outcome.MISSING)
    unseen = run_outcome(document, change, owned=owned, shown=False)
    assert unseen is (Outcome.DEAD_LINK if nowhere else outcome)


def test_counts_name_every_outcome_and_how_documents_were_looked_at() -> None:
    states = [S.FETCHED, S.FETCHED, S.NOT_MODIFIED, S.DISALLOWED, S.GONE]
    outcomes = [Outcome.ADDED, Outcome.UNCHANGED, Outcome.UNCHANGED, Outcome.DISALLOWED, Outcome.GONE]
    counts = count_outcomes([read(state=state) for state in states], outcomes)
    assert counts == {
        **dict.fromkeys((outcome.value for outcome in Outcome), 0),
        **{"scheduled": 5, "fetched": 3, "not_modified": 1},
        **{"added": 1, "unchanged": 2, "disallowed": 1, "gone": 1},
    }
