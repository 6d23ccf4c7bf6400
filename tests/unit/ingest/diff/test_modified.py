"""Which date a document is shown with."""

import pytest

from ingest.diff.documents import diff_document, keep_modified, modified_of
from schemas.changes import ChangeKind
from schemas.documents import DocumentState
from schemas.nodes import Dated, DateOrigin
from tests.fakes.known import known, live

NOW = "2026-03-01T12:00:00+00:00"
STATED, FETCHED, CLAIMED = (f"2025-0{month}-01T00:00:00+00:00" for month in (3, 2, 1))


@pytest.mark.parametrize(
    ("stated", "fetched", "claimed", "shown"),
    [
        (DateOrigin.META, DateOrigin.GIT, True, DateOrigin.META),
        (DateOrigin.PUBLISHED, DateOrigin.GIT, True, DateOrigin.GIT),
        (DateOrigin.PUBLISHED, DateOrigin.HTTP, True, DateOrigin.SITEMAP),
        (DateOrigin.PUBLISHED, DateOrigin.FILE, False, DateOrigin.PUBLISHED),
        (None, DateOrigin.HTTP, True, DateOrigin.SITEMAP),
        (None, DateOrigin.HTTP, False, DateOrigin.HTTP),
        (None, None, True, DateOrigin.SITEMAP),
    ],
)
def test_the_document_is_believed_before_its_history_its_sitemap_and_its_server(
    stated: DateOrigin | None, fetched: DateOrigin | None, claimed: bool, shown: DateOrigin
) -> None:
    row = known(
        stated_modified=STATED if stated else None,
        stated_origin=stated,
        fetched_modified=FETCHED if fetched else None,
        fetched_origin=fetched,
        lastmod=CLAIMED if claimed else None,
        checked_at=NOW,
    )
    found = modified_of(row)
    assert found is not None
    assert found.origin is shown


def test_a_date_that_has_not_come_gives_way_to_the_next() -> None:
    row = known(
        stated_modified="2026-03-03T00:00:00+00:00",
        stated_origin=DateOrigin.META,
        fetched_modified=FETCHED,
        fetched_origin=DateOrigin.HTTP,
        checked_at=NOW,
    )
    assert modified_of(row) == Dated(at=FETCHED, origin=DateOrigin.HTTP)
    assert modified_of(known(checked_at=NOW)) is None


def test_a_day_that_began_in_the_east_has_come() -> None:
    row = known(stated_modified="2026-03-02T00:00:00+00:00", stated_origin=DateOrigin.META, checked_at=NOW)
    assert modified_of(row) is not None


@pytest.mark.parametrize(
    ("held", "new", "follows"),
    [
        (DateOrigin.META, DateOrigin.META, True),
        (DateOrigin.JSON_LD, DateOrigin.META, True),  # the page says no more what it said
        (DateOrigin.PUBLISHED, DateOrigin.PUBLISHED, True),
        (DateOrigin.HTTP, DateOrigin.SITEMAP, True),
        (DateOrigin.HTTP, DateOrigin.TEXT, True),
        (DateOrigin.HTTP, DateOrigin.HTTP, False),  # deployed again
        (DateOrigin.SITEMAP, DateOrigin.SITEMAP, False),
        (DateOrigin.TEXT, DateOrigin.TEXT, False),  # built again
        (DateOrigin.FILE, DateOrigin.FILE, False),
        (DateOrigin.GIT, DateOrigin.GIT, False),
        (DateOrigin.META, DateOrigin.HTTP, False),
    ],
)
def test_content_that_stayed_keeps_its_date_unless_the_document_says_another(
    held: DateOrigin, new: DateOrigin, follows: bool
) -> None:
    old = live(last_modified=CLAIMED, last_modified_origin=held)
    kept = keep_modified(old, Dated(at=FETCHED, origin=new))
    assert kept == (Dated(at=FETCHED, origin=new) if follows else Dated(at=CLAIMED, origin=held))


def test_a_new_date_alone_refreshes_the_document_and_changes_nothing_else() -> None:
    row = known(
        state=DocumentState.FETCHED,
        doc="page:1",
        raw_sha="r2",
        parsed_sha="r2",
        fragment_sha="f1",
        content_hash="c1",
        stated_modified=STATED,
        stated_origin=DateOrigin.META,
        fetched_at=NOW,
    )
    old = live(last_modified=CLAIMED, last_modified_origin=DateOrigin.META, fetched_at="earlier")
    change = diff_document(row, old)
    assert change is not None
    assert change.kind is ChangeKind.REFRESHED
    assert change.new is not None
    assert (change.new.fragment_sha, change.new.fetched_at) == (old.fragment_sha, "earlier")
    assert diff_document(row, change.new) is None
