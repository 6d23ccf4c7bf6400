"""What became of every address that something names, and what comes of it summed up."""

from typing import Any

import pytest

from ingest.plan.completeness import SourceRows, account_for, sum_up
from schemas.completeness import AddressPlace, AddressReason, NamedAddress, UnknownPages
from schemas.documents import DocumentState, KnownDocument
from schemas.source import Scope, Source

AT = "https://h.example/d/"
SOURCE = Source(name="d", kind="web", seeds=(AT,), scope=Scope(exclude=("*/private/*",), max_pages=50))


def known(path: str, state: str = "fetched", **more: Any) -> KnownDocument:
    return KnownDocument(source="d", uri=AT + path, state=DocumentState(state), **more)


def account(source: Source = SOURCE, **rows: Any) -> dict[str, NamedAddress]:
    found = account_for(source, SourceRows(**{"known": (), "shown": (), **rows}))
    assert [one.uri for one in found] == sorted(one.uri for one in found)
    return {one.uri.removeprefix(AT): one for one in found}


@pytest.mark.parametrize(
    ("row", "reason", "detail"),
    [
        (known("a", "redirected", location=AT + "b"), "redirected", f"leads to {AT}b"),
        (known("a", "duplicate", location=AT + "b", reason="same"), "duplicate", f"same; leads to {AT}b"),
        (known("a", doc="theirs"), "other_source", ""),
        (known("a", doc="ours"), "unpublished", ""),
        (known("a", "missing", content_hash="x", reason="HTTP 404"), "missing", "HTTP 404"),
        (known("a", "gone", content_hash="x", reason="HTTP 410"), "gone", "HTTP 410"),
        (known("a", "missing", reason="HTTP 404"), "dead_link", "HTTP 404"),
        (known("a", "unsupported", reason="image/png"), "unsupported", "image/png"),
        (known("private/a", "out_of_scope"), "out_of_scope", "excluded by scope.exclude"),
        (
            known("a", "out_of_scope", reason="more than 20 path segments"),
            "trap",
            "more than 20 path segments",
        ),
        (known("a", "out_of_scope", reason="deeper than max_depth 2"), "too_deep", "deeper than max_depth 2"),
        (known("a", "out_of_scope", reason="max_pages 9 reached"), "over_budget", "max_pages 9 reached"),
        (known("a", "disallowed", reason="robots.txt"), "disallowed", "robots.txt"),
        (known("a", "failed", reason="HTTP 500"), "failed", "HTTP 500"),
        (known("a", "quarantined", reason="a login form"), "quarantined", "a login form"),
        (known("a", "new"), "new", ""),
    ],
)
def test_a_document_that_readers_do_not_see_has_its_reason(
    row: KnownDocument, reason: str, detail: str
) -> None:
    found = account(known=[row], listed={row.uri: ("sitemap",)}, owned={"theirs"})[row.uri.removeprefix(AT)]

    assert (found.reason, found.detail, found.ways) == (reason, detail, ("sitemap",))


@pytest.mark.parametrize(
    "state", ["fetched", "not_modified", "failed", "missing", "quarantined", "disallowed"]
)
def test_a_document_whose_last_good_version_readers_see_is_indexed(state: str) -> None:
    (found,) = account(known=[known("a", state)], shown={AT + "a"}).values()

    assert (found.reason, found.place) == (None, AddressPlace.INDEXED)


def test_a_page_without_words_is_not_indexed_and_says_whether_it_asked_for_that() -> None:
    rows = [known("asks"), known("empty"), known("full")]
    textless = {AT + "asks": "asks not to be indexed", AT + "empty": ""}

    found = account(known=rows, shown={row.uri for row in rows}, textless=textless)

    assert {path: one.reason for path, one in found.items()} == {
        "asks": "noindex",
        "empty": "no_text",
        "full": None,
    }


def test_what_nothing_names_any_more_and_is_gone_is_no_address() -> None:
    rows = [known("gone", "gone"), known("out", "out_of_scope"), known("linked", "gone", content_hash="x")]

    assert account(known=rows, linked={AT + "linked": 1}).keys() == {"linked"}


def test_an_address_that_was_never_let_in_says_what_keeps_it_out() -> None:
    deep = Source(name="d", kind="web", seeds=(AT,), scope=Scope(max_depth=1, max_queries_per_path=1))
    rows = [known("q?p=1", found_by=AT)]
    linked = {f"{AT}{path}": 0 for path in ("a", "q?p=2", "x/x/x/x/x")} | {
        AT + "deep": 1,
        "https://o.example/": 0,
    }

    found = account(
        deep, known=rows, shown={rows[0].uri}, linked=linked, listed={"https://h.example/e": ("feed",)}
    )

    assert {path: one.reason for path, one in found.items() if one.reason} == {
        "a": "nofollow",
        "deep": "too_deep",
        "x/x/x/x/x": "trap",
        "q?p=2": "over_budget",
        "https://h.example/e": "out_of_scope",
    }
    assert found["deep"].detail == "deeper than max_depth 1"
    assert found["q?p=2"].detail == "max_queries_per_path 1 reached"


def test_a_trap_that_links_lead_to_is_named_as_one() -> None:
    path = "x/" * 5

    assert account(linked={AT + path: 0})[path].reason is AddressReason.TRAP


def test_what_finds_no_room_is_over_the_budget() -> None:
    full = [known(str(number)) for number in range(50)]

    found = account(known=full, shown={row.uri for row in full}, linked={AT + "more": 0})

    assert (found["more"].reason, found["more"].detail) == ("over_budget", "max_pages 50 reached")


def test_a_redirect_and_a_copy_are_named_for_what_they_lead_to_and_rings_end() -> None:
    rows = [
        known("old", "redirected", location=AT + "mid"),
        known("mid", "redirected", location=AT + "new", hops=1, found_by=AT + "old"),
        known("new", hops=2, found_by=AT + "mid"),
        known("r", "redirected", location=AT + "s"),
        known("s", "redirected", location=AT + "r"),
        known("page", found_by=AT + "new"),
    ]

    found = account(
        known=rows, shown={AT + "new"}, listed={AT + "old": ("sitemap", "seed"), AT + "r": ("feed",)}
    )

    assert {path: one.ways for path, one in found.items()} == {
        "old": ("seed", "sitemap"),
        "mid": ("sitemap",),
        "new": ("sitemap",),
        "r": ("feed",),
        "s": ("feed",),
        "page": ("link",),
    }


def address(path: str, *ways: str, reason: AddressReason | None = None) -> NamedAddress:
    return NamedAddress(uri=path, ways=ways, reason=reason)


def test_the_share_is_of_pages_and_what_leads_elsewhere_or_nowhere_is_none() -> None:
    reasons = [AddressReason.FAILED, AddressReason.NOINDEX, AddressReason.REDIRECTED, AddressReason.DEAD_LINK]
    found = [address(str(n), "link", "sitemap") for n in range(6)]
    found += [address(reason, "link", reason=reason) for reason in reasons]

    summed = sum_up(found, lists_all=False, before=0.9)

    assert (summed.indexed, summed.left_out, summed.elsewhere, summed.no_page) == (6, 2, 1, 1)
    assert (summed.share, round(summed.fell, 6)) == (0.75, 0.15)
    assert summed.reasons == {"dead_link": 1, "failed": 1, "noindex": 1, "redirected": 1}
    assert summed.ways == {"link": 10, "sitemap": 6}
    assert summed.unknown.likely == 0


def test_a_share_that_rose_did_not_fall_and_without_pages_there_is_none() -> None:
    assert sum_up([address("a", "link")], lists_all=False, before=0.5).fell == 0.0
    empty = sum_up([], lists_all=False, before=0.5)
    assert (empty.share, empty.fell) == (None, 0.0)


def test_a_source_that_lists_all_has_no_unknown_pages() -> None:
    nothing = UnknownPages(likely=0, low=0, high=0, method="listed")
    assert sum_up([address("a", "folder")], lists_all=True).unknown == nothing


def test_every_document_of_a_source_that_lists_all_is_named_by_its_kind() -> None:
    found = account(known=[known("a"), known("b", "gone")], shown={AT + "a"}, origin="folder")

    assert {path: one.ways for path, one in found.items()} == {"a": ("folder",)}
