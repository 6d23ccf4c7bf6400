"""The same content at several addresses: which one stays, and how the others lead to it."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.diff.moves import MIN_WORDS, aliases_of, deduplicate, follow_moves, has_moved, locate_gone
from schemas.documents import REMOVED, KnownDocument
from schemas.documents import DocumentState as S
from tests.fakes.known import SITE, known, live


def page(name: str, content: str = "same", **fields: Any) -> KnownDocument:
    """A parsed page of some length; *content* names its text, its bytes are its own."""
    raw = fields.pop("raw", f"bytes of {name}")
    plain = {"state": S.FETCHED, "doc": f"page:{name}", "raw_sha": raw, "parsed_sha": raw, "words": MIN_WORDS}
    return known(f"{SITE}{name}", **{**plain, "content_hash": content, **fields})


def deduplicated(*rows: KnownDocument) -> dict[str, KnownDocument]:
    """All rows after deduplication, by name."""
    changed = {row.uri: row for row in deduplicate(rows)}
    return {row.uri.removeprefix(SITE): changed.get(row.uri, row) for row in rows}


def standing(*rows: KnownDocument, seen: str) -> str:
    """The page that stands for equal *rows*; readers see those named in *seen*, by spaces."""
    base = [live(uri=SITE + name) for name in seen.split()]
    (place,) = {row.location for row in deduplicate(rows, live=base) if row.state is S.DUPLICATE}
    return (place or "").removeprefix(SITE)


def states(*rows: KnownDocument) -> dict[str, str]:
    return {name: row.state.value for name, row in deduplicated(*rows).items()}


@pytest.mark.parametrize(
    ("first", "second", "winner"),
    [
        (page("a"), page("b"), "a"),  # the lower address
        (page("page?sid=1"), page("page"), "page"),  # the shorter one: session ids go
        (page("a/index.html"), page("a/"), "a/"),
        (page("a", canonical=f"{SITE}long-name"), page("long-name"), "long-name"),  # the page's own choice
        (page("a", canonical=f"{SITE}b"), page("b", canonical=f"{SITE}a"), "a"),  # they contradict each other
        (page("a", canonical=f"{SITE}elsewhere"), page("b"), "a"),
    ],
)
def test_one_address_stands_for_equal_pages(first: KnownDocument, second: KnownDocument, winner: str) -> None:
    rows = deduplicated(first, second)
    (loser,) = rows.keys() - {winner}
    assert rows[winner].state is S.FETCHED
    assert (rows[loser].state, rows[loser].location) == (S.DUPLICATE, SITE + winner)


@pytest.mark.parametrize(
    ("rows", "seen", "winner"),
    [
        ((page("guide/long"), page("a")), "guide/long", "guide/long"),
        ((page("guide/long", state=S.NOT_MODIFIED), page("a"), page("b")), "guide/long", "guide/long"),
        ((page("long"), page("a", canonical=f"{SITE}b"), page("b")), "long", "long"),  # news choose nothing
        ((page("long", canonical=f"{SITE}a"), page("a")), "long", "a"),  # the page's own choice
        ((page("long"), page("longer"), page("a")), "longer long", "long"),  # both were seen
        ((page("long", state=S.GONE), page("a"), page("b")), "long", "a"),
        ((page("1.2/page"), page("1.3/page")), "1.2/page", "1.3/page"),  # the preferred version
    ],
)
def test_what_readers_see_already_stands_for_copies_that_come(
    rows: tuple[KnownDocument, ...], seen: str, winner: str
) -> None:
    assert standing(*rows, seen=seen) == winner


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (page("a", "one"), page("b", "two")),
        (page("a", words=MIN_WORDS - 1), page("b", words=MIN_WORDS - 1)),  # short: alike by chance
        (page("a", words=0), page("b", words=0)),
        (page("a", words=None), page("b", words=None)),
        (page("a", parsed_sha="older"), page("b")),  # its content hash is of other bytes
        (page("a", state=S.FAILED), page("b")),
        (page("a", state=S.MISSING), page("b")),
        (page("a", state=S.QUARANTINED), page("b")),
    ],
)
def test_pages_that_are_not_surely_the_same_stay_apart(first: KnownDocument, second: KnownDocument) -> None:
    assert deduplicate((first, second)) == ()


def test_of_short_pages_equal_bytes_are_duplicates() -> None:
    assert states(page("a", words=0, raw="r"), page("b", words=0, raw="r")) == {
        "a": "fetched",
        "b": "duplicate",
    }


def test_a_duplicate_comes_back_when_its_content_differs_or_its_winner_goes() -> None:
    loser = page("b", state=S.DUPLICATE, location=f"{SITE}a", reason="same content")
    assert states(page("a", "other"), loser) == {"a": "fetched", "b": "fetched"}
    rows = deduplicated(page("a", state=S.GONE), loser)
    assert (rows["b"].state, rows["b"].reason, rows["b"].location) == (S.FETCHED, "", None)
    assert rows["a"].location == f"{SITE}b"


def test_content_of_a_gone_page_that_is_found_elsewhere_has_moved() -> None:
    rows = deduplicated(page("old", state=S.GONE), page("new"))
    assert (rows["old"].state, rows["old"].location) == (S.GONE, f"{SITE}new")
    assert has_moved(rows["old"])
    assert not has_moved(deduplicated(page("old", "other", state=S.GONE), page("new"))["old"])


def test_a_page_that_is_only_missing_has_not_moved_yet() -> None:
    assert deduplicate((page("old", state=S.MISSING), page("new"))) == ()


def test_where_a_gone_page_went_is_forgotten_only_when_that_page_goes_too() -> None:
    old = page("old", state=S.GONE, location=f"{SITE}new")
    assert deduplicated(old, page("new", "edited since"))["old"].location == f"{SITE}new"
    assert deduplicated(old, page("new", state=S.GONE))["old"].location is None
    assert deduplicated(old, page("new", state=S.GONE), page("newest"))["old"].location == f"{SITE}newest"


@pytest.mark.parametrize("state", [S.FAILED, S.MISSING, S.QUARANTINED])
def test_where_a_gone_page_went_stays_known_on_a_bad_day_of_that_page(state: S) -> None:
    old = page("old", state=S.GONE, location=f"{SITE}new")
    rows = (old, page("new", "edited since", state=state))
    assert deduplicated(*rows)["old"].location == f"{SITE}new"
    assert aliases_of(rows, [live(uri=f"{SITE}new", aliases=(old.uri,))]) == {}, "that page stays as it is"


def test_a_copy_that_goes_while_its_page_is_edited_leads_there_still() -> None:
    copy, edited = page("copy", state=S.GONE), page("new", "edited")
    base = [live(uri=edited.uri, aliases=(copy.uri,))]
    (after,) = deduplicate((copy, edited), live=base)
    assert after.location == edited.uri
    assert deduplicate((copy, edited)) == (), "it was no copy"
    assert deduplicate((copy, replace(edited, state=S.GONE)), live=base) == ()
    redirect = replace(copy, content_hash=None)
    assert deduplicate((redirect, edited), live=base) == (), "a redirect that is gone leads nowhere"


@pytest.mark.parametrize(("moves", "moved"), [(0, False), (1, False), (2, True), (3, True)])
def test_a_permanent_redirect_seen_twice_is_a_move(moves: int, moved: bool) -> None:
    assert has_moved(known(state=S.REDIRECTED, location=f"{SITE}new", moves=moves)) is moved


def test_every_address_that_leads_to_a_page_is_its_alias() -> None:
    rows = (
        page("new"),
        page("gone", state=S.GONE, location=f"{SITE}new"),
        page("copy", state=S.DUPLICATE, location=f"{SITE}new"),
        page("moved", state=S.REDIRECTED, location=f"{SITE}copy", moves=1),
        page("for-now", state=S.REDIRECTED, location=f"{SITE}new", moves=0),
        page("lost", state=S.GONE),
        page("circle", state=S.REDIRECTED, location=f"{SITE}circle", moves=2),
        page("dead-end", state=S.REDIRECTED, location=f"{SITE}lost", moves=2),
    )
    assert aliases_of(rows) == {f"{SITE}new": tuple(SITE + name for name in ("copy", "gone", "moved"))}


@pytest.mark.parametrize("state", [S.MISSING, S.FAILED, S.DISALLOWED, S.QUARANTINED, S.NEW])
def test_an_address_that_cannot_be_had_stands_for_what_it_stood_for(state: S) -> None:
    old = page("old", state=state, location=f"{SITE}elsewhere" if state is S.QUARANTINED else None, moves=1)
    through = page("through", state=S.REDIRECTED, location=old.uri, moves=2)
    before = live(uri=f"{SITE}new", aliases=(old.uri, through.uri))

    there = (page("new"), page("elsewhere", "other"))
    assert aliases_of([old, through, *there], [before]) == {before.uri: (old.uri, through.uri)}
    moved_on = (page("new", state=S.REDIRECTED, location=f"{SITE}newer"), page("newer"))
    assert aliases_of([old, through, *moved_on], [before]) == {f"{SITE}newer": (old.uri, through.uri)}
    assert aliases_of([old, through, *there]) == {}, "it has never stood for one"


@pytest.mark.parametrize("state", [S.FETCHED, S.OUT_OF_SCOPE, S.GONE])
def test_an_address_of_which_something_else_is_known_stands_for_none(state: S) -> None:
    old = page("old", "its own", state=state, location=None if state is S.GONE else f"{SITE}new", moves=1)
    assert aliases_of([old, page("new")], [live(uri=f"{SITE}new", aliases=(old.uri,))]) == {}


@pytest.mark.parametrize("state", [S.FAILED, S.MISSING])
def test_copies_wait_while_the_page_that_stands_for_them_cannot_be_had(state: S) -> None:
    rows = (page("a", state=state), page("copy", state=S.NOT_MODIFIED))
    (copy,) = deduplicate(rows, held=[f"{SITE}a"])
    assert (copy.state, copy.location) == (S.DUPLICATE, f"{SITE}a")
    assert deduplicate((rows[0], copy), held=[f"{SITE}a"]) == ()
    (back,) = deduplicate((rows[0], copy))
    assert (back.state, back.location) == (S.FETCHED, None)


def test_following_an_address_ends_where_nobody_knows_more() -> None:
    away = page("away", state=S.REDIRECTED, location="https://elsewhere.example/")
    assert follow_moves(away, {away.uri: away}) is None


rows = st.lists(
    st.builds(
        page,
        st.sampled_from([*"abcdef", "a/index.html", "b?sid=1"]),
        st.sampled_from(["one", "two"]),
        state=st.sampled_from([S.FETCHED, S.NOT_MODIFIED, S.DUPLICATE, S.GONE, S.MISSING, S.FAILED]),
        words=st.sampled_from([0, MIN_WORDS]),
        raw=st.sampled_from(["r1", "r2"]),
        canonical=st.sampled_from([None, f"{SITE}a", f"{SITE}f"]),
    ),
    unique_by=lambda row: row.uri,
)


@given(rows, st.randoms())
def test_the_order_of_fetching_decides_nothing(found: list[KnownDocument], random: Any) -> None:
    shuffled = list(found)
    random.shuffle(shuffled)
    assert deduplicated(*found) == deduplicated(*shuffled)


@given(rows)
def test_deduplicating_again_changes_nothing(found: list[KnownDocument]) -> None:
    assert deduplicate(tuple(deduplicated(*found).values())) == ()


@given(rows, st.data())
def test_no_copy_takes_over_a_page_that_readers_see(found: list[KnownDocument], data: Any) -> None:
    """Unless that page names another, or readers see that one as well."""
    base = [live(uri=row.uri) for row in found if data.draw(st.booleans())]
    seen = {one.uri for one in base}
    chosen = {row.canonical for row in found if row.uri in seen}
    for row in deduplicate(found, live=base):
        if row.state is S.DUPLICATE and row.uri in seen:
            assert row.location in seen | chosen


@given(rows)
def test_no_content_is_lost_and_every_duplicate_leads_to_a_page_that_stays(
    found: list[KnownDocument],
) -> None:
    after = deduplicated(*found)
    alive = {row.content_hash for row in found if row.state in (S.FETCHED, S.NOT_MODIFIED, S.DUPLICATE)}
    assert alive == {row.content_hash for row in after.values() if row.state in (S.FETCHED, S.NOT_MODIFIED)}
    for row in after.values():
        if row.state is S.DUPLICATE:
            winner = after[(row.location or "").removeprefix(SITE)]
            assert winner.state not in REMOVED
            assert winner.content_hash == row.content_hash
    assert [replace(row, state=S.FETCHED).doc for row in found] == [row.doc for row in after.values()]


def test_which_version_stands_for_equal_pages_is_told_by_all_that_is_known() -> None:
    """A bare number is a version where a version stands in its place, equal page or not."""
    rows = deduplicated(page("docs/16/x"), page("docs/17/x"), page("docs/9.6/y", content="another"))
    assert rows["docs/16/x"].location == f"{SITE}docs/17/x"


def test_equal_pages_of_two_versions_of_a_manual_are_two_documents() -> None:
    rows = [page("15/select"), page("15/copy"), page("17/select"), page("about"), page("impressum")]
    changed = deduplicate(
        rows, version_of=lambda uri: next((v for v in ("15", "17") if f"/{v}/" in uri), None)
    )
    assert {row.uri.removeprefix(SITE): row.location for row in changed} == {
        "15/select": f"{SITE}15/copy",
        "impressum": f"{SITE}about",
    }


def gone(name: str, content: str = "same", **fields: Any) -> KnownDocument:
    return page(name, content, state=S.GONE, **fields)


def located(*rows: KnownDocument, live: str, **options: Any) -> dict[str, str | None]:
    """Where gone files are found, by name; *live* names those that readers see, by spaces."""
    seen = {SITE + name for name in live.split()}
    changed = locate_gone(rows, seen, **options)
    return {row.uri.removeprefix(SITE): row.location and row.location.removeprefix(SITE) for row in changed}


def test_a_gone_file_is_found_at_a_new_path_by_its_content_and_nothing_else_changes() -> None:
    rows = (gone("a"), page("b"), page("c"), gone("d", "other"), page("e", "own"))

    (found,) = locate_gone(rows, {f"{SITE}a", f"{SITE}d"})

    assert (found.uri, found.location) == (f"{SITE}a", f"{SITE}b")
    assert has_moved(found)
    assert locate_gone((found, *rows[1:]), {f"{SITE}b", f"{SITE}d"}) == ()


def test_a_file_whose_links_were_edited_too_is_found_by_its_text() -> None:
    rows = (
        gone("a", fragment_sha="it says so"),
        page("b", "its links lead on", fragment_sha="it says so"),
        page("c", "another", fragment_sha="it says more"),
        page("short", "another", fragment_sha="it says so", words=MIN_WORDS - 1),
    )
    assert located(*rows, live="a", says=lambda sha: sha) == {"a": "b"}
    assert located(*rows[::3], live="a", says=lambda sha: sha) == {}
    assert located(*rows, live="a", says=lambda _: None) == {}
    by_version = {"says": lambda sha: sha, "version_of": lambda uri: uri[-1]}
    assert located(*rows, live="a", **by_version) == {}, "another version"


def test_a_copy_that_was_there_before_is_not_where_a_file_went() -> None:
    assert located(gone("a"), page("b"), live="a b") == {}


def test_a_file_that_was_gone_long_ago_is_not_found_in_what_is_new() -> None:
    assert located(gone("a"), page("b"), live="") == {}


def test_each_new_path_takes_in_one_file_first_the_one_of_its_name() -> None:
    rows = (gone("x/a"), gone("x/b"), gone("x/c"), page("new/b"), page("new/a"))

    assert located(*rows, live="x/a x/b x/c") == {"x/a": "new/a", "x/b": "new/b"}
    assert located(rows[2], *rows[3:], live="x/c") == {"x/c": "new/a"}
    assert located(*rows[1:3], page("new/n"), live="x/b x/c") == {"x/b": "new/n"}


def test_a_file_of_one_version_does_not_go_on_in_another() -> None:
    rows = (gone("15/a", raw="same"), page("17/a", raw="same"), page("17/b", "else"))

    assert located(*rows, live="15/a", version_of=lambda uri: uri[len(SITE) :].partition("/")[0]) == {}
    assert located(*rows, live="15/a") == {"15/a": "17/a"}


def test_what_was_found_at_another_path_is_followed_and_is_gone_again_when_that_goes() -> None:
    first = gone("a", location=f"{SITE}b")

    assert located(first, gone("b"), page("c", "other"), live="b") == {"a": None}
    assert located(first, gone("b"), page("c"), live="b") == {"b": "c"}


def test_equal_bytes_are_found_at_a_new_path_wherever_their_relative_links_lead_now() -> None:
    old = gone("a/p", "links to a", raw="same")

    assert located(old, page("b/p", "links to b", raw="same"), live="a/p") == {"a/p": "b/p"}
    assert located(old, page("b/p", "links to b", raw="same", parsed_sha="older"), live="a/p") == {}
