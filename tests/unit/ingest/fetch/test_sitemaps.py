"""What sitemaps and feeds list, and what they may not do."""

import gzip
import threading
import time
import zlib
from contextlib import suppress

import pytest

from ingest.fetch.media import FetchLimits
from ingest.fetch.sitemaps import MOST_FORMS, Sitemap, list_inventory, may_be_list, parse_llms, parse_sitemap
from schemas.completeness import DiscoveryWay
from schemas.errors import ParseError, Stopped
from schemas.fetch import SitemapEntry
from tests.fakes.fetch_clock import WallClock
from tests.fakes.fetching import session_for
from tests.fakes.real_sites import DATA
from tests.fakes.site_server import Reply, Site, serve

_DATA = DATA / "url-robots-sitemap"
_AT = "https://h.example/sitemap.xml"
_NS = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'


def _parse(text: str | bytes, *, max_bytes: int = 1_000_000, max_urls: int = 100) -> Sitemap:
    body = text.encode() if isinstance(text, str) else text
    return parse_sitemap(body, url=_AT, max_bytes=max_bytes, max_urls=max_urls)


def _urls(sitemap: Sitemap) -> list[str]:
    return [entry.url for entry in sitemap.entries]


def _urlset(*places: str) -> str:
    return f"<urlset {_NS}>{''.join(f'<url><loc>{place}</loc></url>' for place in places)}</urlset>"


def test_a_urlset_lists_pages_with_their_dates() -> None:
    sitemap = _parse(
        f"""<?xml version="1.0" encoding="UTF-8"?>
        <urlset {_NS} xmlns:image="http://www.google.com/schemas/sitemap-image/1.1">
          <url><loc> https://h.example/a?x=1&amp;y=2#top </loc><lastmod>2024-05-01</lastmod>
            <image:image><image:loc>https://h.example/a.png</image:loc></image:image></url>
          <url><loc><![CDATA[/b]]></loc></url>
          <url><loc>mailto:x@h.example</loc></url><url/>
        </urlset>"""
    )
    assert sitemap.entries == (
        SitemapEntry(url="https://h.example/a?x=1&y=2", lastmod="2024-05-01"),
        SitemapEntry(url="https://h.example/b"),
    )
    assert sitemap.problem == ""


@pytest.mark.parametrize("claim", ["9999-12-31", "1970-01-01", "yesterday", ""])
def test_a_false_date_takes_no_page_off_the_list(claim: str) -> None:
    items = "".join(f"<url><loc>/{n}</loc><lastmod>{claim}</lastmod></url>" for n in (2, 1))
    sitemap = _parse(f"<urlset {_NS}>{items}</urlset>")
    assert _urls(sitemap) == ["https://h.example/2", "https://h.example/1"]


def test_an_index_lists_sitemaps() -> None:
    sitemap = _parse(
        f"<sitemapindex {_NS}><sitemap><loc>https://h.example/one.xml.gz</loc></sitemap></sitemapindex>"
    )
    assert (sitemap.entries, sitemap.children) == ((), ("https://h.example/one.xml.gz",))


def test_feeds_and_plain_lists_count_too() -> None:
    rss = "<rss><channel><link>/home</link><item><title>t</title><link>/a</link></item></channel></rss>"
    atom = (
        '<feed xmlns="http://www.w3.org/2005/Atom"><link href="/self" rel="self"/><entry>'
        '<link rel="edit" href="/x"/><link href="/a"/><updated>2024-05-01T00:00:00Z</updated></entry></feed>'
    )
    assert _urls(_parse(rss)) == ["https://h.example/a"]
    dated = SitemapEntry(url="https://h.example/a", lastmod="2024-05-01T00:00:00Z", ways=(DiscoveryWay.FEED,))
    assert _parse(atom).entries == (dated,)
    assert _urls(_parse("\ufeffhttps://h.example/a\r\nhttps://h.example/b\n")) == [
        "https://h.example/a",
        "https://h.example/b",
    ]


@pytest.mark.parametrize(
    "text",
    [
        '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><urlset><url><loc>&b;</loc></url></urlset>',
        "<!-- "
        + "p" * 100_000
        + ' -->\n<!DOCTYPE x [<!ENTITY a "b">]><urlset><url><loc>/a</loc></url></urlset>',
        '<?xml version="1.0" encoding="UTF-7"?>+ADw-!DOCTYPE x +AFs-+AF0-+AD4-<urlset></urlset>',
        "<html><body><a href='/a'>not a sitemap</a></body></html>",
        "<!doctype html><p>not found",
        "nothing of the kind",
        "",
        "<",
    ],
)
def test_a_doctype_that_declares_something_or_another_kind_of_file_is_refused(text: str) -> None:
    with pytest.raises(ParseError):
        _parse(text)


_LISTED = f"<urlset {_NS}><url><loc>/a</loc></url><url><loc>/b?x=1&amp;y=2</loc></url></urlset>"
_XML = '<?xml version="1.0" encoding="UTF-8"?>'


@pytest.mark.parametrize(
    "body",
    [
        f"\n \n{_XML}{_LISTED}".encode(),
        f"<b>Notice</b>: undefined index in x.php<br>\n{_XML}{_LISTED}".encode(),
        f"\ufeff\n{_XML}{_LISTED}".encode(),
        (_XML.replace("8", "16") + _LISTED).encode("utf-16"),
        _LISTED.encode("utf-16"),
        (_XML.replace("8", "16") + _LISTED).encode(),
        f"{_XML}<!DOCTYPE urlset>{_LISTED}".encode(),
        f'{_XML}<!DOCTYPE x SYSTEM "file:///etc/passwd">{_LISTED}'.encode(),
        f"{_XML}{_LISTED.replace('&amp;', '&')}".encode(),
        f"{_XML}{_LISTED.replace('/b?x=1&amp;y=2', '<![CDATA[/b?x=1&y=2]]>')}".encode(),
        f"{_XML}{_LISTED.replace('</loc>', '</loc><t>A&nbsp;B &amp C</t>')}".encode(),
        f"{_XML}{_LISTED.replace('&amp;', '&').replace('</loc>', '</loc><t>caf#</t>')}".encode().replace(
            b"#", b"\xe9 "
        ),
        gzip.compress(_LISTED.encode()) + b"\0" * 9,
        "\n\nhttps://h.example/a\nhttps://h.example/b?x=1&y=2".encode("utf-16"),
    ],
)
def test_what_others_read_of_a_sitemap_is_read(body: bytes) -> None:
    assert _urls(_parse(body)) == ["https://h.example/a", "https://h.example/b?x=1&y=2"]


def test_a_packed_bomb_or_half_a_pack_is_refused() -> None:
    packed = gzip.compress(_urlset(*["/a"] * 100_000).encode())
    with pytest.raises(ParseError, match="unpacks"):
        _parse(packed)
    with pytest.raises(ParseError, match="cut short"):
        _parse(packed[:-5], max_bytes=100_000_000)


def test_what_stands_before_a_fault_is_kept_and_the_fault_named() -> None:
    sitemap = _parse(_urlset("/a", "/b").removesuffix("</urlset>") + "<url><loc>/c</wrong>")
    assert _urls(sitemap) == ["https://h.example/a", "https://h.example/b"]
    assert "not well-formed" in sitemap.problem


@pytest.mark.parametrize("as_text", [False, True])
def test_a_list_longer_than_allowed_is_cut_and_said_so(as_text: bool) -> None:
    places = [f"https://h.example/{n}" for n in range(9)]
    sitemap = _parse("\n".join(places) if as_text else _urlset(*places), max_urls=5)
    assert len(sitemap.entries) == 5
    assert "more URLs" in sitemap.problem


def _index(*places: str) -> Reply:
    items = "".join(f"<sitemap><loc>{place}</loc></sitemap>" for place in places)
    return Reply(f"<sitemapindex>{items}</sitemapindex>".encode(), content_type="text/xml")


def _listed(*places: str) -> Reply:
    return Reply(_urlset(*places).encode(), content_type="application/xml")


def test_a_site_without_a_sitemap_adds_nothing_and_says_nothing() -> None:
    for reply in [
        Reply(b"", 404),
        Reply(b"<!doctype html><p>start page"),
        Reply(b"", 301, {"Location": "/"}),
    ]:
        site = Site({"/sitemap.xml": reply})
        with serve(site), session_for(site) as session:
            assert session.sitemaps((site.url("/"),)) == ()
            assert session.problems == []


def test_sitemaps_of_robots_and_the_usual_place_are_read_once_each() -> None:
    site = Site({"/sitemap.xml": _listed("/a"), "/more.xml": _index("/deep.xml", "/sitemap.xml")})
    site.pages["/deep.xml"] = _listed("/b", "https://elsewhere.example/c")
    with serve(site), session_for(site) as session:
        site.pages["/robots.txt"] = Reply(
            b"Sitemap: /more.xml\nSitemap: /more.xml", content_type="text/plain"
        )
        entries = session.sitemaps((site.url("/docs/"), site.url("/")))
        assert [entry.url for entry in entries] == [
            site.url("/a"),
            site.url("/b"),
            "https://elsewhere.example/c",
        ]
        assert sorted(site.paths()) == ["/deep.xml", "/more.xml", "/sitemap.xml"]


def test_sitemaps_that_list_each_other_end() -> None:
    site = Site({"/sitemap.xml": _index("/one.xml"), "/one.xml": _index("/two.xml", "/sitemap.xml")})
    site.pages["/two.xml"] = _index("/three.xml")
    site.pages["/three.xml"] = _listed("/too-deep")
    with serve(site), session_for(site, limits=FetchLimits(sitemap_depth=3)) as session:
        assert session.sitemaps((site.url("/"),)) == ()
        assert site.paths() == ["/sitemap.xml", "/one.xml", "/two.xml"]
        assert any("nested deeper" in problem.reason for problem in session.problems)


def test_a_sitemap_that_robots_names_and_nobody_can_read_is_reported() -> None:
    site = Site({"/robots.txt": Reply(b"Sitemap: /s.xml", content_type="text/plain")})
    site.pages["/s.xml"] = Reply(b"<!DOCTYPE x [<!ENTITY a 'b'>]><urlset/>")
    with serve(site), session_for(site) as session:
        assert session.sitemaps((site.url("/"),)) == ()
        assert len(session.problems) == 1
        assert session.problems[0].url == site.url("/s.xml")
        assert "entities" in session.problems[0].reason


def test_a_sitemap_at_the_usual_place_is_reported_where_robots_names_it() -> None:
    site = Site({"/robots.txt": Reply(b"Sitemap: /sitemap.xml", content_type="text/plain")})
    with serve(site), session_for(site) as session:
        assert session.sitemaps((site.url("/"),)) == ()
        assert [problem.url for problem in session.problems] == [site.url("/sitemap.xml")]


def test_a_site_that_forbids_everything_is_not_asked_for_a_sitemap() -> None:
    site = Site({"/robots.txt": Reply(b"User-agent: *\nDisallow: /", content_type="text/plain")})
    with serve(site), session_for(site) as session:
        assert session.sitemaps((site.url("/"),)) == ()
        assert [ask.path for ask in site.log] == ["/robots.txt"]


def test_a_sitemap_that_its_own_site_disallows_is_named_and_not_read() -> None:
    with serve(Site()) as elsewhere, serve(Site()) as site:
        robots = b"User-agent: *\nDisallow: /closed\nSitemap: /closed/s.xml\nSitemap: /open.xml"
        elsewhere.pages["/robots.txt"] = Reply(b"User-agent: *\nDisallow: /", content_type="text/plain")
        site.pages["/robots.txt"] = Reply(robots, content_type="text/plain")
        site.pages["/open.xml"] = _index("/closed/t.xml", elsewhere.url("/s.xml"))
        with session_for(site, elsewhere) as session:
            assert session.sitemaps((site.url("/"),)) == ()
            assert {(p.url, p.reason) for p in session.problems} == {
                (url, "sitemap: robots.txt disallows it")
                for url in (site.url("/closed/s.xml"), site.url("/closed/t.xml"), elsewhere.url("/s.xml"))
            }
        assert site.paths() == ["/open.xml", "/sitemap.xml"]
        assert elsewhere.paths() == []


def test_a_stop_does_not_wait_for_a_site_that_asked_for_patience_with_its_sitemap() -> None:
    site = Site({"/sitemap.xml": Reply(b"", 503, {"Retry-After": "60"})})
    stop = threading.Event()
    timer = threading.Timer(0.4, stop.set)
    with serve(site), session_for(site, clock=WallClock()) as session:
        timer.start()
        began = time.monotonic()
        with pytest.raises(Stopped):
            session.sitemaps((site.url("/"),), should_stop=stop.is_set)
        assert time.monotonic() - began < 15
        timer.join()


@pytest.mark.data
def test_real_sitemaps_are_read_without_a_surprise() -> None:
    read = 0
    for path in sorted((_DATA / "trafilatura-resources").iterdir()):
        with suppress(ParseError):
            read += len(_parse(path.read_bytes(), max_bytes=50_000_000, max_urls=50_000).entries)
    assert read > 0


def test_a_place_of_a_million_escapes_takes_no_long_look() -> None:
    place = "https://h.example/" + "&amp;" * 1_000_000
    text = f"<urlset {_NS}><url><loc>{place}</loc></url><url><loc>https://h.example/a</loc></url></urlset>"
    assert _urls(_parse(text, max_bytes=len(text))) == ["https://h.example/a"]


@pytest.mark.parametrize(
    ("text", "listed"),
    [
        ("# A\n\n- [One](/one): text\n- [Two](<https://h.example/two#top>)", ["/one", "/two"]),
        ("\ufeff[a [b]](/x_(y)) [same](/x_(y))", ["/x_(y)"]),
        ('[titled](/one "One") [mail](mailto:a@h.example)', ["/one"]),
    ],
)
def test_an_llms_txt_lists_what_it_links_to(text: str, listed: list[str]) -> None:
    found = parse_llms(text.encode(), url="https://h.example/llms.txt", max_urls=100)
    assert _urls(found) == [f"https://h.example{path}" for path in listed]


@pytest.mark.parametrize("text", ["", "Nothing here", "<!doctype html><p>[a](/a)</p>", "\n <html>[a](/a)"])
def test_what_is_no_markdown_with_links_is_no_llms_txt(text: str) -> None:
    with pytest.raises(ParseError):
        parse_llms(text.encode(), url="https://h.example/llms.txt", max_urls=100)


def test_an_llms_txt_lists_no_more_than_a_sitemap_may() -> None:
    found = parse_llms(b"[a](/a) [b](/b) [c](/c)", url="https://h.example/llms.txt", max_urls=2)
    assert (len(found.entries), bool(found.problem)) == (2, True)


_INVENTORY = b"# Sphinx inventory version 2\n# Project: It\n# Version: 1\n# The remainder is zlib.\n"


def _inventory(*lines: str) -> bytes:
    return _INVENTORY + zlib.compress("\n".join([*lines, ""]).encode())


def _names_listed(body: bytes, **limits: int) -> Sitemap:
    url = "https://h.example/docs/objects.inv"
    return list_inventory(body, url=url, **{"max_bytes": 10_000, "max_urls": 100, **limits})


def test_an_inventory_lists_the_pages_that_its_names_stand_on_each_once() -> None:
    found = _names_listed(
        _inventory(
            "shop.Cart py:class 1 api.html#$ -",
            "shop.Cart.add item py:method 1 api.html#shop.Cart.add -",
            "guide/start.html std:doc -1 $ Start here",
            "index std:doc -1  Welcome",
            "no line of an inventory",
        )
    )
    assert _urls(found) == [f"https://h.example/docs/{path}" for path in ("api.html", "guide/start.html", "")]
    assert {entry.ways for entry in found.entries} == {(DiscoveryWay.INVENTORY,)}


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<!doctype html><p>Not found\n",
        _INVENTORY,
        _INVENTORY + b"not packed",
        _inventory("a std:doc 1 a.html -" * 2000)[:-20],
        _inventory(*(f"{n} std:doc 1 {n}.html -" for n in range(2000))),
        _INVENTORY.replace(b"2", b"1"),
    ],
)
def test_what_is_no_whole_inventory_of_bounded_size_lists_nothing(body: bytes) -> None:
    with pytest.raises(ParseError):
        _names_listed(body)


@pytest.mark.parametrize(
    "line", ["a " + ":" * 1_000_000, "a" + " " * 1_000_000, "a b:" * 300_000, "$ a:b 1 " + "$" * 10**6 + " -"]
)
def test_a_line_of_an_inventory_that_was_made_to_be_slow_takes_no_long_look(line: str) -> None:
    body = _inventory(line, "a std:doc 1 a.html -")
    assert "https://h.example/docs/a.html" in _urls(_names_listed(body, max_bytes=2_000_000))


def test_an_inventory_lists_no_more_than_a_sitemap_may() -> None:
    found = _names_listed(_inventory(*(f"{n} std:doc 1 {n}.html -" for n in range(9))), max_urls=2)
    assert (len(found.entries), bool(found.problem)) == (2, True)


def test_all_that_lists_an_address_is_kept_with_it_and_inventories_stand_in_the_folders_of_seeds() -> None:
    with serve(Site()) as site:
        site.pages["/sitemap.xml"] = Reply(
            f"<urlset><url><loc>{site.url('/d/a.html')}</loc></url></urlset>".encode()
        )
        site.pages["/llms.txt"] = Reply(b"[a](/d/a.html) [b](/d/b.html)")
        site.pages["/d/objects.inv"] = Reply(_inventory("a std:doc 1 a.html -", "c std:doc 1 c.html -"))
        with session_for(site) as session:
            found = session.sitemaps((site.url("/d/"), site.url("/d/more.html"), site.url("/e/")))
        asked = [ask.path for ask in site.log if ask.path.endswith("objects.inv")]
    assert {entry.url.removeprefix(site.origin): entry.ways for entry in found} == {
        "/d/a.html": (DiscoveryWay.INVENTORY, DiscoveryWay.LLMS, DiscoveryWay.SITEMAP),
        "/d/b.html": (DiscoveryWay.LLMS,),
        "/d/c.html": (DiscoveryWay.INVENTORY,),
    }
    assert asked == ["/d/objects.inv", "/e/objects.inv"]


@pytest.mark.parametrize(
    ("url", "named"),
    [
        ("https://h.example/feed.xml", True),
        ("https://h.example/blog/feed/", True),
        ("https://h.example/index.rss?page=2", True),
        ("https://h.example/atom", True),
        ("https://h.example/?feed=rss2", True),
        ("https://feed.example/", False),
        ("https://h.example/feed/how", False),
        ("https://h.example/index.html", False),
    ],
)
def test_feeds_are_known_by_their_names(url: str, named: bool) -> None:
    assert may_be_list(url) is named


_RSS = (
    b'<?xml version="1.0"?><rss version="2.0"><channel><link>/</link>'
    b"<item><link>/new.html</link><pubDate>Tue, 05 Mar 2024 10:00:00 GMT</pubDate></item>"
    b"<item><link>/old.html#comment-2</link></item></channel></rss>"
)


def test_a_seed_that_is_a_feed_lists_its_entries_and_is_no_document() -> None:
    site = Site({"/feed.xml": Reply(_RSS, content_type="application/rss+xml")})
    with serve(site), session_for(site) as session:
        entries = session.sitemaps((site.url("/"), site.url("/feed.xml")))
        assert {entry.url: entry.lastmod for entry in entries} == {
            site.url("/new.html"): "Tue, 05 Mar 2024 10:00:00 GMT",
            site.url("/old.html"): None,
        }
        assert list(session.lists) == [site.url("/feed.xml")]
        assert session.lists[site.url("/feed.xml")].parts == 1
        assert sorted(site.paths()) == ["/feed.xml", "/sitemap.xml"]


def test_a_seed_that_is_only_named_like_a_feed_stays_a_page() -> None:
    page = Reply(b"<!doctype html><title>Our feed</title>", content_type="text/html")
    bomb = Reply(b'<!DOCTYPE x [<!ENTITY a "b">]><rss><channel/></rss>', content_type="text/xml")
    site = Site({"/feed": page, "/bomb.xml": bomb})
    with serve(site), session_for(site) as session:
        seeds = tuple(map(site.url, ("/feed", "/bomb.xml", "/gone.xml")))
        assert (session.sitemaps(seeds), session.lists, session.problems) == ((), {}, [])


def _forms(sitemap: Sitemap) -> dict[str, tuple[str, ...]]:
    at = "https://h.example/"
    return {
        entry.url.removeprefix(at): tuple(form.removeprefix(at) for form in entry.translations)
        for entry in sitemap.entries
    }


def _in_languages(place: str, *links: str) -> str:
    return f"<url><loc>{place}</loc>{''.join(f'<xhtml:link {link}/>' for link in links)}</url>"


@pytest.mark.parametrize(
    ("links", "forms"),
    [
        (('rel="alternate" hreflang="en" href="/a"', 'rel="alternate" hreflang="de" href="/b"'), ("a", "b")),
        (('hreflang="de-CH" href=" /b#top "',), ("a", "b")),
        (('hreflang="de" href="/b?x=1&amp;y=2&#38;z=&amp;amp;"',), ("a", "b?x=1&y=2&z=&amp;")),
        (('rel="alternate" hreflang="en" href="/a"',), ()),
        (('rel="alternate" hreflang="X-Default" href="/b"',), ()),
        (('rel="alternate" hreflang="" href="/b"', 'rel="alternate" href="/b"'), ()),
        (('rel="amphtml" hreflang="de" href="/b"',), ()),
        (('rel="alternate" hreflang="de" href="https://elsewhere.example/b"',), ()),
        (('rel="alternate" hreflang="de" href="mailto:x@h.example"',), ()),
        (('rel="alternate" hreflang="de"',), ()),
    ],
)
def test_a_page_is_named_with_its_forms_in_other_languages(
    links: tuple[str, ...], forms: tuple[str, ...]
) -> None:
    namespace = 'xmlns:xhtml="http://www.w3.org/1999/xhtml"'
    sitemap = _parse(f"<urlset {_NS} {namespace}>{_in_languages('/a', *links)}</urlset>")
    assert _forms(sitemap) == {"a": forms}


def test_nobody_speaks_of_pages_of_another_owner() -> None:
    link = 'rel="alternate" hreflang="de" href="https://other.example/b"'
    assert [
        entry.translations
        for entry in _parse(
            f"<urlset {_NS} xmlns:xhtml='x'>{_in_languages('https://other.example/a', link)}</urlset>"
        ).entries
    ] == [()]


def test_a_feed_may_name_other_languages_and_says_nothing_of_translations() -> None:
    entry = '<entry><link href="/a" hreflang="en"/><link href="/b" hreflang="de"/></entry>'
    assert _forms(_parse(f"<feed>{entry}</feed>")) == {"a": ()}


def test_the_forms_of_a_page_are_those_of_all_sitemaps_that_list_it() -> None:
    links = {form: f'hreflang="x" href="/{form}"' for form in "bc"}
    lists = {
        f"/{form}.xml": Reply(f"<urlset xmlns:xhtml='x'>{_in_languages('/a', link)}</urlset>".encode())
        for form, link in links.items()
    }
    robots = Reply(b"Sitemap: /b.xml\nSitemap: /c.xml\n", content_type="text/plain")
    site = Site({"/robots.txt": robots, **lists})
    with serve(site), session_for(site) as session:
        (entry,) = session.sitemaps((site.url("/"),))
        assert entry.translations == tuple(map(site.url, ("/a", "/b", "/c")))
        assert session.lists_are_whole


@pytest.mark.parametrize(
    ("reply", "whole"),
    [
        (Reply(b"", 404), True),
        (Reply(b"", 503), False),
        (Reply(b"<urlset><url", content_type="text/xml"), False),
        (Reply(b"x", headers={"Content-Encoding": "compress"}), False),
        (Reply(b"<urlset>" + b" " * 99_000_000), False),
        (Reply(b"\x89PNG", content_type="image/png"), True),
    ],
)
def test_it_is_known_whether_all_that_may_be_listed_was_read(reply: Reply, whole: bool) -> None:
    site = Site({"/sitemap.xml": reply})
    with serve(site), session_for(site) as session:
        session.sitemaps((site.url("/"),))
        assert session.lists_are_whole is whole


def test_a_page_that_one_sitemap_lists_twice_has_the_forms_of_both() -> None:
    twice = "".join(_in_languages("/a", f'hreflang="x" href="/{form}"') for form in "bc")
    assert _forms(_parse(f"<urlset xmlns:xhtml='x'>{twice}</urlset>")) == {"a": ("a", "b", "c")}


def test_forms_without_end_of_a_page_that_is_listed_without_end_are_cut() -> None:
    pages = (_in_languages("/a", f'hreflang="x" href="/{number:05}"') for number in range(2000))
    sitemap = _parse(f"<urlset xmlns:xhtml='x'>{''.join(pages)}</urlset>", max_urls=2000)
    assert len(_forms(sitemap)["a"]) == MOST_FORMS + 1
    assert f"more than {MOST_FORMS} forms of one page" in sitemap.problem


def test_forms_without_end_are_cut_and_that_is_said() -> None:
    links = (f'hreflang="x" href="/{number:05}"' for number in range(MOST_FORMS + 9))
    sitemap = _parse(f"<urlset xmlns:xhtml='x'>{_in_languages('/a', *links)}</urlset>")
    assert len(_forms(sitemap)["a"]) == MOST_FORMS + 1
    assert f"more than {MOST_FORMS} forms of one page" in sitemap.problem


@pytest.mark.data
def test_a_sitemap_of_others_names_families() -> None:
    body = (_DATA / "trafilatura-resources" / "sitemap-hreflang.xml").read_bytes()
    at = "http://www.example.com/sitemap.xml"
    found = parse_sitemap(body, url=at, max_bytes=1_000_000, max_urls=100).entries
    assert len(found) == 3
    assert {entry.translations for entry in found} == {tuple(sorted(entry.url for entry in found))}


def test_a_large_sitemap_is_read_to_its_end() -> None:
    links = [f'rel="alternate" hreflang="x" href="/{form}"' for form in range(300)]
    pages = "".join(_in_languages(f"/{number}", *links) for number in range(800))
    sitemap = _parse(f"<urlset xmlns:xhtml='x'>{pages}</urlset>", max_urls=1000)
    assert len(pages) > 12_000_000
    assert (len(sitemap.entries), sitemap.problem) == (800, "")


def test_an_ampersand_in_the_link_of_a_feed_is_one() -> None:
    assert _urls(_parse('<feed><entry><link href="/a?x=1&amp;y=2"/></entry></feed>')) == [
        "https://h.example/a?x=1&y=2"
    ]
