"""Answers of 200 that are no content, from a real site on loopback: put aside, and the last good one kept."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from runtime.parser_pool import ChildLimits, ParserPool
from schemas.changes import ChangeKind
from schemas.errors import GuardRefused
from tests.fakes.pdfs import Text, heading, new_pdf
from tests.fakes.plain_crawl import ParserInThisThread
from tests.fakes.plain_run import PlainRun, crawl, open_plain_run, publish_ledger, source_of, states
from tests.fakes.secret_samples import github_token
from tests.fakes.site_server import Reply, Script, Site, with_validators

NAMES = tuple("abcdefghij")
PATHS = tuple(f"/{name}.html" for name in NAMES)


def html(text: str) -> Reply:
    return Reply(f"<html><body>{text}</body></html>".encode())


def page(title: str, *, links: tuple[str, ...] = ()) -> Reply:
    """A page of some forty words of its own."""
    words = " ".join(f"{title}-subject-{number}" for number in range(40))
    listed = "".join(f"<li><a href='{link}'>{link}</a></li>" for link in links)
    return html(f"<title>{title}</title><main><h1>{title}</h1><p>{words}</p><ul>{listed}</ul></main>")


LOGIN = html("<h1>Sign in</h1><form><input name=user><input type=password name=pw></form>")
WALL = html("<p>This site uses cookies. Accept our cookies to go on reading.</p>")
SHELL = html("<title>App</title><div id='root'></div><script src='/app.js'></script>")
SORRY = html("<h1>Kites</h1><p>The kites of the house hang in the hall. Take one and bring it back.</p>")
SHORT = html("<p>Only a few words are left here now.</p>")


class SoftErrors(dict[str, Script]):
    """Pages of a site that never says 404."""

    def __init__(self, pages: dict[str, Script], excuse: Script) -> None:
        super().__init__(pages)
        self.excuse = excuse

    def get(self, path: str, default: object = None) -> Script:  # type: ignore[override]
        """The page, or the site's excuse."""
        return super().get(path, self.excuse)


@pytest.fixture
def good(site: Site) -> Site:
    """The site on a good day; an address nobody has gets a 404."""
    site.pages = {path: page(name) for path, name in zip(PATHS, NAMES, strict=True)}
    site.pages["/"] = page("start", links=PATHS)
    site.log.clear()
    return site


@pytest.fixture
def plain(good: Site, tmp_path: Path, parsers: ParserPool) -> Iterator[PlainRun]:
    """A run's parts, after a first run that readers see."""
    with open_plain_run(tmp_path, source_of(good), parsers=parsers) as plain:
        publish_ledger(plain, crawl(plain, "first"))
        good.log.clear()
        yield plain


def probes(site: Site) -> int:
    """How often the site was asked for an address that nobody has."""
    return sum(ask.path.startswith("/sitegraph-") for ask in site.log)


def test_a_page_whose_bytes_are_not_kept_is_judged_by_what_it_says(plain: PlainRun, good: Site) -> None:
    good.pages["/a.html"] = html(f"<p>The key {github_token()} is all that is left.</p>")

    crawl(plain, "second")

    assert states(plain)["/a.html"] == ("quarantined", "less than a fifth of its text is left")


def test_each_bad_answer_is_put_aside_and_marked_until_the_page_is_good_again(
    plain: PlainRun, good: Site
) -> None:
    before = dict(good.pages)
    good.pages |= {"/a.html": LOGIN, "/b.html": WALL, "/c.html": SHELL, "/d.html": SHORT}
    good.pages["/e.html"] = Reply(b"", 302, {"Location": "/"})
    good.pages["/f.html"] = page("rewritten")

    difference = crawl(plain, "second")

    assert {path: reason for path, (state, reason) in states(plain).items() if state == "quarantined"} == {
        "/a.html": "a login page",
        "/b.html": "a cookie wall",
        "/c.html": "an empty page that JavaScript would fill",
        "/d.html": "less than a fifth of its text is left",
        "/e.html": f"redirects to the start page {good.url('/')}",
    }
    kinds = [(change.kind, change.new.stale if change.new else None) for change in difference.changes]
    assert sorted(kinds) == [(ChangeKind.CHANGED, False)] + [(ChangeKind.REFRESHED, True)] * 5
    assert {name: n for name, n in difference.documents.items() if n} == {
        **{"scheduled": 11, "fetched": 11},
        **{"quarantined": 5, "changed": 1, "unchanged": 5},
    }
    assert probes(good) == 1

    publish_ledger(plain, difference)
    assert crawl(plain, "third").changes == (), "looked at again, still bad, nothing to write"
    good.pages |= before
    back = crawl(plain, "fourth")
    assert {change.kind for change in back.changes} == {ChangeKind.REFRESHED, ChangeKind.CHANGED}
    assert not any(change.new.stale for change in back.changes if change.new)
    assert {state for state, _ in states(plain).values()} == {"fetched"}


def test_an_error_page_with_200_is_known_by_what_a_nonsense_address_gets(plain: PlainRun, good: Site) -> None:
    start = page("start", links=(*PATHS, "/new.html"))
    good.pages = SoftErrors({**good.pages, "/a.html": SORRY, "/b.html": SORRY, "/": start}, SORRY)
    good.pages["/c.html"] = page("rewritten")

    crawl(plain, "second")

    why = "what the host answers to addresses that nobody has"
    found = {path: reason for path, (state, reason) in states(plain).items() if state == "quarantined"}
    assert found == {"/a.html": why, "/b.html": why, "/new.html": why}
    assert probes(good) == 1, "once a run and host"


def test_a_redirect_to_where_every_unknown_address_leads_is_no_move(plain: PlainRun, good: Site) -> None:
    moved, elsewhere = (Reply(b"", 301, {"Location": to}) for to in ("/nothing-here.html", "/c.html"))
    good.pages = SoftErrors({**good.pages, "/a.html": moved, "/b.html": elsewhere}, moved)
    good.pages["/nothing-here.html"] = page("nothing")

    crawl(plain, "second")

    found = states(plain)
    assert found["/a.html"][0] == "quarantined"
    assert found["/a.html"][1].endswith("as addresses do that nobody has")
    assert found["/b.html"][0] == "redirected"


def test_a_short_page_is_taken_as_it_is_when_an_operator_accepts_it(plain: PlainRun, good: Site) -> None:
    good.pages |= {"/a.html": SHORT, "/b.html": LOGIN}

    difference = crawl(plain, "second", accept=True)

    assert difference.documents["changed"] == 1
    assert states(plain)["/b.html"] == ("quarantined", "a login page")


def test_a_site_of_which_most_pages_are_bad_publishes_nothing(plain: PlainRun, good: Site) -> None:
    for number, bad in enumerate((LOGIN, SHORT, SHELL, WALL)):
        good.pages |= dict.fromkeys(PATHS[:6], bad)
        with pytest.raises(GuardRefused, match="6 of 11 documents are now an error or login page"):
            crawl(plain, f"run {number}")

    kinds = {change.kind for change in crawl(plain, "accepted", accept=True).changes}
    assert kinds == {ChangeKind.REFRESHED}, "what is no content is marked, never taken"


def test_a_site_that_is_all_errors_publishes_nothing_even_when_told_to(plain: PlainRun, good: Site) -> None:
    errors = (Reply(b"gone", 404), Reply(b"gone", 410), Reply(b"sorry", 500), Reply(b""), LOGIN, SHELL, WALL)
    for number, bad in enumerate(errors):
        good.pages = dict.fromkeys(("/", *PATHS), bad)
        with pytest.raises(GuardRefused, match="nothing was changed"):
            crawl(plain, f"run {number}", accept=number % 2 == 0)


def test_a_first_run_keeps_logins_and_walls_out(good: Site, tmp_path: Path, parsers: ParserPool) -> None:
    good.pages |= {"/a.html": LOGIN, "/b.html": WALL, "/c.html": html("<p>Short but honest.</p>")}
    with open_plain_run(tmp_path, source_of(good), parsers=parsers) as plain:
        difference = crawl(plain, "first")

    assert difference.documents["quarantined"] == 2
    assert len(difference.changes) == 9
    assert probes(good) == 1


HELP = {
    "Log in": "<p>Choose Log in at the top and type your name and your password. After five wrong passwords "
    "the account is locked for an hour; the keeper of your harbour can open it again. Tick the box to stay.",
    "404 Not Found": "<p>The server answers 404 Not Found when the page you are looking for was moved. Check "
    "the address for typing errors or start from the home page. Keepers find the cause in the journal.",
    "Maintenance": "<p>The service is unavailable while maintenance runs. We apologize for the inconvenience "
    "is what visitors see; change it under Notices. Please check back later is added where no end is set.",
}


def test_pages_about_errors_that_a_site_lists_by_their_names_are_content(
    good: Site, tmp_path: Path, parsers: ParserPool
) -> None:
    """What stands under a name of another page is none, whatever it says."""
    listed = "".join(f"<p><a href='/help{at}'>{name}</a>" for at, name in enumerate(HELP))
    others = "".join(f"<p><a href='/lost{at}'>Tides {at}</a>" for at in range(len(HELP)))
    good.pages["/"] = html(f"<title>start</title><main><h1>start</h1>{listed}{others}</main>")
    for at, (name, text) in enumerate(HELP.items()):
        shown = html(f"<title>{name}</title><a href=/>start</a><main><h1>{name}</h1>{text}</main>")
        good.pages |= {
            f"/help{at}": shown,
            f"/lost{at}": html(f"<title>{name}</title><h1>{name}</h1>{text} {at}"),
        }
    with open_plain_run(tmp_path, source_of(good), parsers=parsers) as plain:
        crawl(plain, "first")
        told = {path: state for path, (state, _) in states(plain).items()}
    assert {told[f"/help{at}"] for at in range(len(HELP))} == {"fetched"}
    assert (told["/lost1"], told["/lost2"]) == ("quarantined", "quarantined")


@pytest.mark.parametrize("status", [404, 410])
def test_a_link_that_leads_nowhere_is_no_removal_in_any_run(good: Site, tmp_path: Path, status: int) -> None:
    good.pages |= {"/": page("start", links=(*PATHS, "/never.html")), "/never.html": Reply(b"", status)}
    with open_plain_run(tmp_path, source_of(good)) as plain:
        plain.give(parsers=ParserInThisThread(), pipeline_version="v1")
        counted = []
        for number in range(4):
            if number == 3:
                good.pages["/a.html"] = Reply(b"", 410)
            counted.append(crawl(plain, f"run {number}"))
            if counted[-1].changes:
                publish_ledger(plain, counted[-1])
        again = crawl(plain, "again")
        states = plain.index.ledger.documents.states()

    ways = [
        {k: v for k, v in one.documents.items() if k in ("gone", "missing", "dead_link")} for one in counted
    ]
    assert ways == [
        *[{"gone": 0, "missing": 0, "dead_link": 1}] * 3,
        {"gone": 1, "missing": 0, "dead_link": 1},
    ]
    assert (again.documents["gone"], again.documents["dead_link"]) == (0, 2), "it was removed before"
    assert states["handbook"] == {"fetched": 10, "gone": 1, "dead_link": 1}


CUT = page("a").body[:400]
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n"


@pytest.mark.parametrize(
    "cut",
    [
        Reply(CUT, length=False),
        Reply(raw=HEAD + b"Content-Encoding: identity\r\n\r\n" + CUT),
        Reply(raw=HEAD + b"Content-Length: 9000\r\n\r\n" + CUT),
        Reply(raw=HEAD + b"Transfer-Encoding: chunked\r\n\r\n%x\r\n%b\r\n" % (len(CUT), CUT)),
    ],
)
def test_a_page_that_breaks_off_replaces_no_whole_one_and_is_asked_for_again(
    plain: PlainRun, good: Site, cut: Reply
) -> None:
    good.pages["/a.html"] = cut

    difference = crawl(plain, "second")

    state, reason = states(plain)["/a.html"]
    assert (difference.changes, state) == ((), "failed")
    assert "broke off" in reason or "the connection ended before the end of the page" in reason
    good.pages["/a.html"] = page("rewritten")
    assert [change.kind for change in crawl(plain, "third").changes] == [ChangeKind.CHANGED]


def test_a_page_whose_end_never_was_marked_is_taken_as_it_comes(plain: PlainRun, good: Site) -> None:
    good.pages["/a.html"] = Reply(f"<h1>Kites</h1><p>{'kite ' * 99}".encode())
    publish_ledger(plain, crawl(plain, "second"))
    good.pages["/a.html"] = Reply(f"<h1>Kites</h1><p>{'kites ' * 99}".encode(), length=False)

    assert [change.kind for change in crawl(plain, "third").changes] == [ChangeKind.CHANGED]


@pytest.mark.parametrize(("header", "failures"), [("text/html", 2), ("text/markdown", 0)])
def test_a_page_that_has_no_end_any_more_is_taken_at_the_third_look_or_at_once_of_another_type(
    plain: PlainRun, good: Site, header: str, failures: int
) -> None:
    text = f"# Kites\n\n{'kite ' * 99}".encode()
    good.pages["/a.html"] = Reply(text, content_type=header, length=False)

    looks = [crawl(plain, f"look {number}").changes for number in range(failures + 1)]

    assert [[change.kind for change in changes] for changes in looks] == [
        *[[]] * failures,
        [ChangeKind.CHANGED],
    ]


def test_copies_and_moved_pages_are_one_page_with_several_addresses(plain: PlainRun, good: Site) -> None:
    start = good.pages["/"]
    good.pages |= {"/": page("start", links=(*PATHS, "/a.html?sid=7", "/moved.html"))}
    good.pages |= {"/a.html?sid=7": page("a"), "/moved.html": page("b"), "/b.html": Reply(b"gone", 410)}

    difference = crawl(plain, "second")

    assert difference.documents["duplicate"] == difference.documents["moved"] == 1
    assert states(plain)["/b.html"] == ("gone", "HTTP 410")
    aliases = {change.uri: change.new.aliases for change in difference.changes if change.new}
    assert aliases[good.url("/a.html")] == (good.url("/a.html?sid=7"),)
    assert aliases[good.url("/moved.html")] == (good.url("/b.html"),)
    (gone,) = (change for change in difference.changes if change.kind is ChangeKind.REMOVED)
    moved = next(change for change in difference.changes if change.uri == good.url("/moved.html"))
    assert (gone.uri, gone.successor) == (good.url("/b.html"), moved.doc)
    assert plain.index.ledger.redirects.after(0) == {
        good.url("/b.html"): good.url("/moved.html"),
        good.url("/a.html?sid=7"): good.url("/a.html"),
    }

    publish_ledger(plain, difference)
    assert crawl(plain, "third").changes == ()
    good.pages |= {"/a.html?sid=7": page("its own"), "/": start}
    back = crawl(plain, "fourth")
    assert {change.uri for change in back.changes if change.kind is ChangeKind.ADDED} == {
        good.url("/a.html?sid=7")
    }


def test_a_page_that_cannot_be_read_is_stale_after_three_tries(plain: PlainRun, good: Site) -> None:
    before = good.pages["/a.html"]
    good.pages["/a.html"] = Reply(b"%PDF-1.7 and nothing that a PDF is made of")
    for number in (1, 2):
        assert crawl(plain, f"unreadable {number}").changes == ()
    difference = crawl(plain, "unreadable 3")
    assert [(c.uri, c.new and c.new.stale) for c in difference.changes] == [(good.url("/a.html"), True)]

    publish_ledger(plain, difference)
    good.pages["/a.html"] = before
    assert [change.new and change.new.stale for change in crawl(plain, "good").changes] == [False]
    (row,) = plain.index.ledger.documents.get("handbook", [good.url("/a.html")]).values()
    assert row.failures == 0


def test_a_pdf_that_a_newer_parser_cannot_read_is_stale_after_three_tries(
    plain: PlainRun, good: Site
) -> None:
    """Its bytes stay as they are, as the site says; the newer version has no time for PDFs."""
    pdf = new_pdf([[heading("Charter"), Text("All that we promise. " * 20)]]).tobytes()
    good.pages |= {"/": page("start", links=(*PATHS, "/a.pdf")), "/a.pdf": with_validators(pdf, etag='"1"')}
    publish_ledger(plain, crawl(plain, "readable"))
    tokenizer = plain.resources.model.path / "tokenizer.json"
    with ParserPool(workers=1, tokenizer=tokenizer, limits=ChildLimits(pdf_seconds=0)) as parsers:
        plain.give(parsers=parsers, pipeline_version="newer")
        for number in (1, 2):
            assert crawl(plain, f"unreadable {number}").changes == ()
        difference = crawl(plain, "unreadable 3")
    assert [(c.uri, c.new and c.new.stale) for c in difference.changes] == [(good.url("/a.pdf"), True)]


@pytest.mark.long
def test_a_bad_day_of_pages_with_several_addresses_publishes_nothing(plain: PlainRun, good: Site) -> None:
    moved = Reply(b"", 301, {"Location": "/b.html"})
    good.pages |= {"/": page("start", links=(*PATHS, "/a.html?sid=7", "/old.html"))}
    good.pages |= {"/a.html?sid=7": page("a"), "/old.html": moved}
    publish_ledger(plain, crawl(plain, "second"))
    fine = dict(good.pages)
    for number, trouble in enumerate((Reply(b"gone", 404), Reply(b"sorry", 403))):
        for paths in (("/a.html", "/old.html"), ("/a.html?sid=7",), ("/b.html",)):
            good.pages = {**fine, **dict.fromkeys(paths, trouble)}
            assert crawl(plain, f"bad {number} {paths}", days=0.1).changes == (), paths
            good.pages = dict(fine)
            assert crawl(plain, f"good {number} {paths}", days=0.1).changes == (), paths
