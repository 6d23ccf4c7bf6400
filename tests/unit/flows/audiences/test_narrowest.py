"""What is one document under several addresses."""

from typing import Any

import pytest

from flows.audiences.visible import find_closings
from ingest.plan.access import CLOSED
from schemas.access import PathAccess, SourceAccess, refusal_of
from schemas.documents import DocumentState, KnownDocument
from schemas.uses import Use
from tests.fakes.known import SITE, known, web_source

HR = frozenset({"hr"})
SOURCES = {
    "handbook": web_source(
        access=SourceAccess(
            paths=(
                PathAccess(path=f"{SITE}hr/*", groups=("hr",)),
                PathAccess(path=f"{SITE}pub/*", groups=("public",)),
            )
        )
    ),
    "open": web_source(name="open"),
}


def page(path: str, **fields: Any) -> KnownDocument:
    own = {"raw_sha": f"r-{path}", "content_hash": f"c-{path}", "fragment_sha": f"f-{path}", "words": 30}
    return known(f"{SITE}{path}", **{"state": DocumentState.FETCHED, **own, **fields})


def closed(*rows: KnownDocument, stated: dict[str, frozenset[str]] | None = None) -> set[str]:
    """Paths that only readers of hr see."""
    asked = {sha: frozenset({groups}) for sha, groups in (stated or {}).items()}
    found = find_closings(rows, SOURCES, asked)
    assert all(one.asked == {HR} for one in found.values())
    return {uri.removeprefix(SITE) for _, uri in found}


PAY = page("hr/pay")


@pytest.mark.parametrize(
    "other",
    [
        page("copy", raw_sha="r-hr/pay"),
        page("copy", parsed_sha="r-hr/pay"),
        page("copy", content_hash="c-hr/pay"),
        page("copy", content_hash="c-hr/pay", words=3),
        page("copy", content_hash="c-hr/pay", source="open"),
        page("pub/copy", content_hash="c-hr/pay"),
        page("copy", state=DocumentState.DUPLICATE, location=PAY.uri),  # another form of it
        page("copy", canonical=PAY.uri),
        page("copy", canonical=f"{SITE}hr/unknown"),
        page("copy", state=DocumentState.GONE, location=PAY.uri),
        page("copy", source="open", canonical=PAY.uri),
        page("copy", source="open", canonical=f"{SITE}hr/unknown"),
        page("copy", source="open", state=DocumentState.GONE, location=PAY.uri),
        page("copy", state=DocumentState.REDIRECTED, location=f"{SITE}hr/unknown"),
        page("copy", source="open", state=DocumentState.REDIRECTED, location=f"{SITE}hr/unknown"),
        page("hr/pay", source="open"),
    ],
)
def test_a_copy_is_for_those_alone_who_may_see_each_of_its_addresses(other: KnownDocument) -> None:
    assert closed(PAY, other) == closed(other, PAY) == {"hr/pay", other.uri.removeprefix(SITE)}
    assert find_closings((PAY, other), SOURCES, {})[other.source, other.uri].as_of in (PAY.uri, None)


@pytest.mark.parametrize("odd", ["hr%2Fpay", "/hr/pay", "hr;v=1/pay", "pub/..%2Fhr/pay"])
@pytest.mark.parametrize("shared", ["raw_sha", "content_hash"])
def test_an_address_that_nobody_can_read_closes_no_page_that_has_a_plain_one(odd: str, shared: str) -> None:
    other = page(odd, **{shared: f"{shared[0]}-hr/pay"})
    asked = {uri: one.asked for (_, uri), one in find_closings((PAY, other), SOURCES, {}).items()}
    assert asked == {PAY.uri: {HR}, other.uri: {HR}}

    alone = find_closings((other, page("a", canonical=other.uri)), SOURCES, {})
    assert {uri: one.asked for (_, uri), one in alone.items()} == {other.uri: CLOSED}
    for state in (DocumentState.GONE, DocumentState.REDIRECTED):
        past = page("a", **{shared: f"{shared[0]}-hr/pay"}, state=state)
        assert find_closings((other, past), SOURCES, {})[other.source, other.uri].asked == CLOSED
    public = page("pub/a", **{shared: f"{shared[0]}-hr/pay"})
    assert find_closings((other, public), SOURCES, {}) == {}


def test_front_matter_closes_the_copies_of_a_page_and_copies_of_these() -> None:
    stated = {"f-a": HR}
    a, b, c = page("a"), page("b", raw_sha="r-a"), page("c", content_hash="c-b")
    assert closed(a, b, c, page("d"), stated=stated) == {"a", "b", "c"}
    assert closed(a, page("e", canonical=a.uri), page("d"), stated=stated) == {"a", "e"}


def test_a_use_is_refused_for_copies_of_a_page_and_no_more_once_it_has_moved() -> None:
    refused = {"f-a": frozenset({refusal_of(Use.AI_INPUT)})}
    rows = (page("a"), page("b", raw_sha="r-a"), page("c", canonical=f"{SITE}a"), page("d"))
    found = find_closings(rows, SOURCES, refused)
    assert {uri.removeprefix(SITE) for _, uri in found} == {"a", "b", "c"}
    assert all(one.asked == refused["f-a"] and one.as_of is None for one in found.values())
    for past in (DocumentState.GONE, DocumentState.REDIRECTED):
        moved = find_closings((page("a", state=past), page("b", raw_sha="r-a")), SOURCES, refused)
        assert f"{SITE}b" not in {uri for _, uri in moved}


@pytest.mark.parametrize(
    "fields",
    [
        {"state": DocumentState.GONE, "location": f"{SITE}NEW"},
        {"state": DocumentState.GONE, "content_hash": "c-NEW"},
        {"state": DocumentState.REDIRECTED, "moves": 1, "location": f"{SITE}NEW"},
        {"state": DocumentState.REDIRECTED, "content_hash": "c-NEW", "location": f"{SITE}login"},
    ],
)
def test_what_moved_stays_closed_until_a_glob_names_its_new_place(fields: dict[str, Any]) -> None:
    for new, seen_by_hr in (("new", {"hr/pay", "new"}), ("pub/new", {"hr/pay"})):
        to = {key: one.replace("NEW", new) if isinstance(one, str) else one for key, one in fields.items()}
        assert closed(page("hr/pay", **{**to, "state": fields["state"]}), page(new)) == seen_by_hr


@pytest.mark.parametrize(
    "other",
    [
        page("hr/old", state=DocumentState.REDIRECTED, moves=3, location=SITE),
        page("hr/old", state=DocumentState.REDIRECTED, moves=0, location=f"{SITE}login"),
        page("hr/old", state=DocumentState.REDIRECTED, moves=3, content_hash=None, location=f"{SITE}login"),
        page("hr/old", canonical=SITE),
        page("hr/old", content_hash="empty", words=0),
    ],
)
def test_where_a_closed_address_only_leads_stays_open(other: KnownDocument) -> None:
    others = (page(""), page("login"), page("empty", content_hash="empty", words=0))
    assert closed(other, *others) == {"hr/old"}


FORM = {"state": DocumentState.QUARANTINED, "raw_sha": "r-login", "content_hash": "c-login"}


@pytest.mark.parametrize(
    ("reason", "seen_by_hr"),
    [
        ("a login page", {"hr/a"}),
        ("a cookie wall", {"hr/a"}),
        ("less than a fifth of its text is left", {"hr/a", "login"}),
        ("redirects to the start page", {"hr/a", "login"}),
    ],
)
def test_a_form_in_the_place_of_a_closed_page_closes_no_form_elsewhere(
    reason: str, seen_by_hr: set[str]
) -> None:
    form = page("hr/a", **FORM, reason=reason)
    assert closed(form, page("login")) == closed(page("login"), form) == seen_by_hr


@pytest.mark.parametrize("state", [DocumentState.FETCHED, DocumentState.GONE])
def test_a_form_that_a_closed_page_has_or_had_is_closed_wherever_it_comes(state: DocumentState) -> None:
    kept, form = page("hr/login", **{**FORM, "state": state}), page("a", **FORM, reason="a login page")
    assert closed(kept, form) == closed(form, kept) == {"hr/login", "a"}


def test_another_form_of_a_closed_page_stays_closed_when_a_login_comes_in_its_place() -> None:
    twin = page("copy", state=DocumentState.DUPLICATE, location=f"{SITE}hr/a")
    assert closed(page("hr/a", **FORM, reason="a login page"), twin) == {"hr/a", "copy"}


def test_the_first_address_is_named_of_those_that_close_a_page() -> None:
    names = [f"name-{number:02}" for number in range(30)]
    copies = [page(f"copy-{name}", raw_sha="one", canonical=f"{SITE}{name}") for name in names]
    rows = (*(page(name) for name in names), *copies)

    found = find_closings(rows, SOURCES, {f"f-{name}": HR for name in names})

    assert found["handbook", copies[7].uri].as_of == f"{SITE}{names[0]}"
