"""Pages that are there as Markdown, too: found by llms.txt, negotiated, and one document with their page."""

from pathlib import Path

import pytest

from runtime.parser_pool import ParserPool
from tests.fakes.plain_run import crawl, open_plain_run, source_of, states
from tests.fakes.site_server import Ask, Reply, Script, Site

HTML, MARKDOWN = "text/html; charset=utf-8", "text/markdown; charset=utf-8"


def words(name: str) -> str:
    return " ".join(f"{name}-{nth}" for nth in range(120))


def page(name: str, *, head: str = "", body: str = "", link: str = "") -> Reply:
    text = (
        f"<html><head>{head}</head><body><main><h1>{name}</h1><p>{words(name)}</p>{body}</main></body></html>"
    )
    return Reply(text.encode(), headers={"Link": link} if link else {}, content_type=HTML)


def markdown(name: str, *, more: str = "") -> Reply:
    return Reply(f"# {name}\n\n{words(name)}\n{more}".encode(), content_type=MARKDOWN)


SAID = '<link rel="alternate" type="text/markdown" href="/raw/kite">'
LLMS = Reply(
    b"# House\n\n> About kites.\n\n- [Kite](/kite): one (big)\n- [Hall](<hall_(old)>)\n"
    b"- [Other](https://other.example/x)\n",
    content_type="text/plain",
)
TWO_LINKS = '<a href="/kite">a</a> <a href="/old">b</a>'

CASES: dict[str, tuple[dict[str, Script], dict[str, str]]] = {
    "llms.txt leads to pages of the source alone": (
        {"/": page("start"), "/llms.txt": LLMS, "/kite": page("kite"), "/hall_(old)": page("hall")},
        {"/": "fetched", "/kite": "fetched", "/hall_(old)": "fetched"},
    ),
    "a page in place of llms.txt leads nowhere": (
        {
            "/": page("start"),
            "/llms.txt": page("lost", body="<p>[Kite](/kite)</p>"),
            "/kite": page("kite"),
        },
        {"/": "fetched"},
    ),
    "Markdown that llms.txt names is its page": (
        {
            "/": page("start", body='<a href="/kite">a</a>'),
            "/llms.txt": Reply(b"- [Kite](/kite.md)", content_type="text/plain"),
            "/kite": page("kite"),
            "/kite.md": markdown("kite"),
        },
        {"/": "fetched", "/kite": "fetched", "/kite.md": "duplicate"},
    ),
    "Markdown that a page states is the page, wherever it lies": (
        {
            "/": page("start", body='<a href="/kite">a</a> <a href="/raw/kite">b</a>'),
            "/kite": page("kite", head=SAID),
            "/raw/kite": markdown("kite", more="\nAsk for more."),
        },
        {"/": "fetched", "/kite": "fetched", "/raw/kite": "duplicate"},
    ),
    "Markdown that says more than the page that states it is a document": (
        {
            "/": page("start", body='<a href="/kite">a</a>'),
            "/kite": page("kite", head=SAID),
            "/raw/kite": markdown("kite", more=words("hall") + words("roof")),
        },
        {"/": "fetched", "/kite": "fetched", "/raw/kite": "fetched"},
    ),
    "a header names a page as canonical": (
        {
            "/": page("start", body=TWO_LINKS),
            "/kite": page("kite", link='</kite>; rel="canonical"'),
            "/old": page("kite", body="<p>An older address.</p>", link='</kite>; rel="canonical"'),
        },
        {"/": "fetched", "/kite": "fetched", "/old": "duplicate"},
    ),
    "a header names a page that says something else": (
        {
            "/": page("start", body=TWO_LINKS),
            "/kite": page("kite"),
            "/old": page("hall", link='</kite>; rel="canonical"'),
        },
        {"/": "fetched", "/kite": "fetched", "/old": "fetched"},
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_page_and_its_markdown_are_one_document(
    site: Site, tmp_path: Path, parsers: ParserPool, case: str
) -> None:
    site.pages, expected = CASES[case]
    with open_plain_run(tmp_path, source_of(site), parsers=parsers) as plain:
        crawl(plain, "first")
        assert {path: state for path, (state, _) in states(plain).items()} == expected
        assert not plain.index.ledger.runs.problems("first")


def by_accept(ask: Ask) -> Reply:
    """Markdown for whoever ranks it at least as high as HTML (RFC 9110, 12.5.1)."""
    ranks = dict.fromkeys(("text/html", "text/markdown"), 0.0)
    for part in ask.headers.get("accept", "*/*").replace(" ", "").split(","):
        name, _, weight = part.partition(";q=")
        asked = (kind for kind in ranks if name in (kind, "text/*", "*/*"))
        ranks |= {kind: max(ranks[kind], float(weight or 1)) for kind in asked}
    return page("kite") if ranks["text/html"] > ranks["text/markdown"] else markdown("kite")


def test_a_page_that_is_negotiated_is_asked_for_as_html(
    site: Site, tmp_path: Path, parsers: ParserPool
) -> None:
    site.pages = {"/": by_accept}
    with open_plain_run(tmp_path, source_of(site), parsers=parsers) as plain:
        crawl(plain, "first")
        (row,) = plain.index.ledger.documents.of_source(plain.source.name)
    assert row.content_type == HTML
