"""Pages of a site on loopback that say something else than before: held, told, and in the end believed."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from flows.run.account import problems_so_far
from runtime.parser_pool import Parsed
from schemas.changes import ChangeKind
from schemas.errors import GuardRefused
from schemas.fragment import ParseRequest
from tests.fakes.plain_crawl import ParserInThisThread
from tests.fakes.plain_run import PlainRun, crawl, open_plain_run, publish_ledger, source_of, states
from tests.fakes.site_server import Reply, Site, with_validators

NAMES = tuple("abcdefghijkl")
LETTERS = "abcdefghijklmnopqrstuvwxyz"
HELD = ("quarantined", "says something else than before")


def prose(subject: str, *, more: str = "", number: int = 60) -> bytes:
    """A page of so many words of its own."""
    words = " ".join(f"{subject}{LETTERS[at // 26]}{LETTERS[at % 26]}" for at in range(number))
    return f"<title>{subject}</title><main><h1>{subject}</h1><p>{words}.</p>{more}</main>".encode()


@pytest.fixture
def good(site: Site) -> Site:
    """Twelve pages of prose, and one that lists them."""
    listed = "".join(f"<li>See <a href='/{name}'>{name}</a>." for name in NAMES)
    site.pages = {f"/{name}": with_validators(prose(name), etag=f'"{name}"') for name in NAMES}
    site.pages["/"] = Reply(f"<title>start</title><main><h1>start</h1><ul>{listed}</ul></main>".encode())
    return site


@pytest.fixture
def plain(good: Site, tmp_path: Path) -> Iterator[PlainRun]:
    """A run's parts, after a first run that readers see."""
    with open_plain_run(tmp_path, source_of(good)) as plain:
        plain.give(parsers=ParserInThisThread(), pipeline_version="v1")
        publish_ledger(plain, crawl(plain, "first"))
        yield plain


def told(plain: PlainRun) -> list[str]:
    """Reasons of the problems that are of no single page."""
    return [one.reason for one in problems_so_far(plain.crawling) if one.url == plain.source.name]


def test_a_page_that_says_something_else_is_held_until_it_has_said_so_for_a_week(
    plain: PlainRun, good: Site
) -> None:
    good.pages["/a"] = with_validators(prose("sorry"), etag='"sorry"')

    for look, days in enumerate((1, 2, 2, 2)):
        crawl(plain, f"look {look}", days=days)
        assert states(plain)["/a"] == HELD
    assert told(plain) == []
    (change,) = crawl(plain, "last", days=1).changes
    assert (change.kind, states(plain)["/a"]) == (ChangeKind.CHANGED, ("not_modified", ""))

    publish_ledger(plain, crawl(plain, "published"))
    good.pages["/a"] = Reply(prose("regret"))
    crawl(plain, "other")
    assert states(plain)["/a"] == HELD, "what was believed is its past now"


def test_two_looks_are_too_few_however_far_apart(plain: PlainRun, good: Site) -> None:
    good.pages["/a"] = Reply(prose("sorry"))
    for look in range(2):
        crawl(plain, f"look {look}", days=20)
        assert states(plain)["/a"] == HELD
    assert [one.kind for one in crawl(plain, "third", days=20).changes] == [ChangeKind.CHANGED]


def test_the_number_of_an_incident_makes_no_other_text_and_another_notice_does(
    plain: PlainRun, good: Site
) -> None:
    for look in range(2):
        good.pages["/a"] = Reply(prose("sorry", more=f"<p>Incident {look} of today</p>"))
        crawl(plain, f"look {look}", days=5)
    good.pages["/a"] = Reply(prose("maintenance"))
    for look in range(2):
        crawl(plain, f"other {look}", days=5)
        assert states(plain)["/a"] == HELD
    good.pages["/a"] = Reply(prose("maintenance", more="<p>Incident seven of today</p>"))
    assert len(crawl(plain, "meant", days=5).changes) == 1


def test_a_404_in_between_begins_both_counts_anew(plain: PlainRun, good: Site) -> None:
    notice, missing = Reply(prose("sorry")), Reply(b"", 404)
    found = []
    for look, reply in enumerate((notice, notice, missing, notice, notice)):
        good.pages["/a"] = reply
        crawl(plain, f"look {look}", days=5)
        found.append(states(plain)["/a"][0])
    assert found == ["quarantined", "quarantined", "missing", "quarantined", "quarantined"]


def test_a_page_that_is_itself_again_is_no_change(plain: PlainRun, good: Site) -> None:
    before = good.pages["/a"]
    good.pages["/a"] = Reply(prose("sorry"))
    publish_ledger(plain, crawl(plain, "held"))
    good.pages["/a"] = before

    (back,) = crawl(plain, "back").changes

    assert (back.kind, back.new and back.new.stale) == (ChangeKind.REFRESHED, False)


def test_an_operator_who_accepts_it_gets_it_at_once(plain: PlainRun, good: Site) -> None:
    good.pages["/a"] = Reply(prose("sorry"))
    crawl(plain, "held")
    assert [one.kind for one in crawl(plain, "accepted", accept=True).changes] == [ChangeKind.CHANGED]


def test_pages_that_are_rewritten_together_are_told_in_one_line(plain: PlainRun, good: Site) -> None:
    for name in NAMES[:5]:
        good.pages[f"/{name}"] = Reply(prose(f"new{name}"))
    crawl(plain, "some")
    assert told(plain) == [
        "5 of 13 documents say something else than before and are held: the site was rewritten, or answers "
        "wrongly; to go ahead: sitegraph run SOURCE.yaml --accept"
    ]


def test_a_site_that_is_another_one_is_never_believed_by_waiting(plain: PlainRun, good: Site) -> None:
    for name in NAMES[:7]:
        good.pages[f"/{name}"] = Reply(prose(f"new{name}"))
    for look in range(4):
        with pytest.raises(GuardRefused, match=r"7 of 13 documents .* say something else than before"):
            crawl(plain, f"look {look}", days=20)
    assert len(crawl(plain, "accepted", accept=True).changes) == 7


def test_the_only_page_of_a_source_is_refused_and_in_the_end_believed(site: Site, tmp_path: Path) -> None:
    site.pages = {"/": Reply(prose("a"))}
    with open_plain_run(tmp_path, source_of(site)) as plain:
        plain.give(parsers=ParserInThisThread(), pipeline_version="v1")
        publish_ledger(plain, crawl(plain, "first"))
        site.pages["/"] = Reply(prose("new"))
        for look in range(2):
            with pytest.raises(GuardRefused, match="1 of 1 documents"):
                crawl(plain, f"look {look}", days=5)
        assert len(crawl(plain, "last", days=5).changes) == 1


class OtherReader(ParserInThisThread):
    """Reads what stands in the footer, as after a change of the parser or of `content`."""

    def parse(self, data: bytes, request: ParseRequest, *, pages: bytes = b"") -> Parsed:
        """The page with its notes in the place of its text."""
        return super().parse(data.replace(b"a", b"o"), request, pages=pages)


def test_bytes_that_are_read_in_another_way_are_no_other_text(plain: PlainRun, good: Site) -> None:
    good.pages["/b"] = Reply(prose("sorry"))
    plain.give(parsers=OtherReader(), pipeline_version="v2")

    kinds = {one.uri: one.kind for one in crawl(plain, "newer").changes}

    assert states(plain)["/b"] == HELD
    assert kinds[good.url("/a")] is ChangeKind.CHANGED


def test_a_front_page_that_says_something_else_stops_no_run_and_leads_on(plain: PlainRun, good: Site) -> None:
    good.pages["/"] = Reply(prose("welcome", more="<p>See <a href='/z'>z</a>.</p>"))
    good.pages["/z"] = Reply(prose("zebra"))
    publish_ledger(plain, crawl(plain, "longer", accept=True))
    good.pages["/"] = Reply(prose("spring", more="<p>See <a href='/y'>y</a>.</p>"))
    good.pages["/y"] = Reply(prose("yonder"))

    (added,) = [one for one in crawl(plain, "other").changes if one.kind is ChangeKind.ADDED]

    assert states(plain)["/"] == HELD
    assert added.uri == good.url("/y")


def test_a_new_page_has_no_past(plain: PlainRun, good: Site) -> None:
    good.pages["/a"] = Reply(prose("a", more="<p>See <a href='/z'>z</a>.</p>"))
    good.pages["/z"] = Reply(prose("sorry"))
    crawl(plain, "second")
    assert states(plain)["/z"] == ("fetched", "")
