"""Documents that a page shows inside itself or states in its head."""

import pytest

from ingest.parse.html.hints import srcset_urls
from tests.fakes.pages import parse_page

SITE = "http://docs.example"


def targets(page: str | bytes, **known: str) -> list[str]:
    """Where the links of a page lead, below the site."""
    return [link.target.removeprefix(SITE) for link in parse_page(page, **known).links]


@pytest.mark.parametrize(
    ("markup", "found"),
    [
        ("<object data=/all.pdf type=application/pdf></object>", ["/all.pdf"]),
        ("<object data=all.pdf></object>", ["/guide/all.pdf"]),
        ("<object data=/show?id=7 type='application/PDF; x=y'></object>", ["/show?id=7"]),
        ("<object data=/part></object>", ["/part"]),
        ("<object data=/film.swf></object><object data=/a.pdf type=image/svg+xml></object>", []),
        ("<object data=/all.pdf hidden></object>", []),
        ("<embed src=/all.pdf>", ["/all.pdf"]),
        ("<iframe src='two words.html'></iframe>", ["/guide/two%20words.html"]),
        ("<img src=/dot.png srcset='/dot-2.png 2x, /plan.pdf 3x'>", ["/plan.pdf"]),
        ("<picture><source srcset=/wide.webp><source srcset='/plan.PDF?v=2'></picture>", ["/plan.PDF?v=2"]),
        ("<link rel=alternate type=application/pdf href=/all.pdf>", ["/all.pdf"]),
        ("<link rel='ALTERNATE' type='text/markdown; charset=utf-8' href=start.md>", ["/guide/start.md"]),
        ("<link rel=alternate type=application/rss+xml href=/feed>", []),
        ("<link rel='alternate stylesheet' type=text/html href=/dark>", []),
        ("<link rel=alternate href=/unknown>", []),
    ],
)
def test_a_page_leads_to_the_documents_that_it_shows_or_states(markup: str, found: list[str]) -> None:
    assert targets(f"<html><body><h1>Start</h1><p>Read this.</p>{markup}") == found


def test_what_is_shown_is_called_by_its_title() -> None:
    (link,) = parse_page("<body><p>Read.<object data=/all.pdf title='The whole manual'></object>").links
    assert link.text == "The whole manual"


@pytest.mark.parametrize(
    ("value", "urls"),
    [
        ("", []),
        ("a.png", ["a.png"]),
        (" , a.png 1x,b.png 2x , c,d.png 100w", ["a.png", "b.png", "c,d.png"]),
        ("a.png, b.png", ["a.png", "b.png"]),
        ("a.png foo(1, 2) 1x, b.png", ["a.png", "b.png"]),
        ("a.png foo(1, 2 b.png", ["a.png"]),
        ("data:,a ( , data:,b 1x, ), data:,c", ["data:,a", "data:,c"]),
    ],
)
def test_addresses_of_a_srcset_are_read_as_browsers_read_them(value: str, urls: list[str]) -> None:
    assert list(srcset_urls(value)) == urls


@pytest.mark.parametrize(
    ("encoding", "query"),
    [("utf-8", "n=Stra%C3%9Fe"), ("windows-1252", "n=Stra%DFe"), ("windows-1251", "n=Stra%26%23223%3Be")],
)
def test_a_query_is_asked_in_the_encoding_of_its_page(encoding: str, query: str) -> None:
    page = "<body><p>Read <a href='/find?n=Stra\u00dfe'>all</a>."
    raw = page.encode("windows-1252" if encoding != "utf-8" else "utf-8")
    if encoding == "windows-1251":
        raw = page.replace("\u00df", "&szlig;").encode(encoding)
    assert targets(raw, content_type=f"text/html; charset={encoding}") == [f"/find?{query}"]
