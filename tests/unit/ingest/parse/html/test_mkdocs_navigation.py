"""Sites as MkDocs writes them: what leads through the site is no link of the text."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from ingest.parse.document import parse_document
from schemas.edges import LinkPosition
from schemas.fragment import GraphFragment, ParseRequest
from schemas.nodes import Page, PageKind

NAMES = tuple(f"harbour-{number}" for number in range(6))


def built(folder: Path, theme: str) -> Mapping[str, GraphFragment]:
    """Build a manual of a few pages in a theme of MkDocs, and parse every page of it."""
    from mkdocs.commands.build import build
    from mkdocs.config import load_config

    docs, site = folder / "docs", folder / "site"
    docs.mkdir()
    for number, name in enumerate(NAMES):
        words = " ".join(f"Berth {berth} of harbour {number} is dry at low water." for berth in range(20))
        text = f"# Harbour {number}\n\n{words} See [the quay](harbour-3.md).\n"
        (docs / ("index.md" if number == 0 else f"{name}.md")).write_text(text, encoding="utf-8")
    settings = {"site_name": "Harbours", "docs_dir": "docs", "site_dir": "site", "theme": {"name": theme}}
    (folder / "mkdocs.yml").write_text(json.dumps(settings), encoding="utf-8")
    build(load_config(str(folder / "mkdocs.yml")))
    pages = sorted(path for path in site.rglob("*.html"))
    return {path.relative_to(site).as_posix(): parse(path, site) for path in pages}


def parse(path: Path, site: Path) -> GraphFragment:
    uri = f"https://docs.example/{path.relative_to(site).as_posix()}"
    request = ParseRequest(uri=uri, url=uri, source="s", content_type="text/html")
    return parse_document(path.read_bytes(), request, count_tokens=lambda text: len(text.split()))


@pytest.fixture(scope="module", params=["readthedocs", "mkdocs"])
def site(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Mapping[str, GraphFragment]:
    return built(tmp_path_factory.mktemp("manual"), request.param)


def test_only_the_links_of_the_text_are_in_the_body(site: Mapping[str, GraphFragment]) -> None:
    content = [found for name, found in site.items() if name.startswith(("harbour", "index"))]
    assert len(content) == len(NAMES)
    body = {link.text for one in content for link in one.links if link.position is LinkPosition.BODY}
    assert body == {"the quay"}
    led = {link.text for one in content for link in one.links}
    assert any("next" in text.lower() for text in led), "the theme writes such links, and they are followed"


def test_a_link_of_the_text_says_where_it_stands(site: Mapping[str, GraphFragment]) -> None:
    for name, fragment in site.items():
        texts = {chunk.id: chunk.text for chunk in fragment.chunks}
        for link in fragment.links:
            if link.position is LinkPosition.BODY:
                assert [texts[at.chunk][at.offset or 0 :].startswith(link.text) for at in link.places] == [
                    True
                ], name


def test_the_error_page_and_the_search_are_known(site: Mapping[str, GraphFragment]) -> None:
    kinds = {name: page.page_kind for name, one in site.items() if isinstance(page := one.nodes[0], Page)}
    assert kinds.pop("404.html") is PageKind.NOT_FOUND
    assert kinds.pop("search.html", PageKind.SEARCH) is PageKind.SEARCH
    assert set(kinds.values()) == {PageKind.CONTENT}
