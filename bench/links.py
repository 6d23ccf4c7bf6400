"""Links of real manuals: how many of the text are noise, how many name their place, and who has authority.

    python -m bench.links FOLDER...

Each folder holds the pages of one site. Nothing is encoded and no index is made. What counts as noise is told
by names that generators give their files and by words, not by the rules that are measured.
"""

import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from ingest.link.authority import weigh_documents
from ingest.link.links import LinkTexts, link_edges, with_navigation
from ingest.parse.document import parse_document
from schemas.edges import Edge, LinkPosition
from schemas.errors import SitegraphError
from schemas.fragment import GraphFragment, ParseRequest
from schemas.nodes import Page, PageKind

HOST = "http://docs.example/"
NO_CONTENT = (
    *("genindex", "bookindex", "py-modindex", "search", "404"),
    *("changes", "upgrading-checklist", "release-"),
)
"""Beginnings of the names of indexes, searches, errors and lists of changes."""
OF_NAVIGATION = frozenset(["previous", "next", "prev", "up", "home", "contents", "index", "top", "back"])


def main() -> None:
    """Print the figures of each folder."""
    for folder in sys.argv[1:]:
        measure(Path(folder))


def measure(folder: Path) -> None:
    """Print the figures of one site."""
    fragments = dict(parse_site(folder))
    names = {fragment.doc: name for name, fragment in fragments.items()}
    linking = [fragment for fragment in fragments.values() if fragment.links]
    texts = LinkTexts(pages=len(linking), counts=Counter(t for one in linking for t in body_texts(one)))
    docs = {fragment.uri: fragment.doc for fragment in fragments.values()}
    edges = [
        edge
        for fragment in fragments.values()
        for edge in link_edges(with_navigation(fragment, texts.repeated()), source="bench", resolve=docs.get)
    ]
    body = [edge for edge in edges if edge.position is LinkPosition.BODY]
    kinds = content_kinds(fragments)
    count_for = [edge for edge in body if edge.src in kinds and edge.dst in kinds]
    often = frozenset(text for text, count in texts.counts.items() if count >= max(8, len(linking) / 2))
    print(f"{folder}: {len(fragments)} pages, {len(edges)} edges of links, {len(body)} of the body")
    print(f"  noise: {share(body, names, often)}")
    print(f"  noise of those that give authority: {share(count_for, names, often)}")
    print(f"  naming their chunk: {sum(edge.chunk is not None for edge in body)}")
    print(f"  no content: {sorted(names[doc] for doc in names.keys() - kinds.keys())[:20]}")
    values = weigh_documents(kinds, edges, {})
    best = sorted(values, key=lambda doc: (-values[doc], doc))[:10]
    print("  authority:", ", ".join(f"{names[doc]} {values[doc]:.2f}" for doc in best))


def parse_site(folder: Path) -> list[tuple[str, GraphFragment]]:
    """Parse every page of a folder that can be read."""
    found = []
    for path in sorted(path for path in folder.rglob("*.html") if path.is_file()):
        name = path.relative_to(folder).as_posix()
        request = ParseRequest(uri=HOST + name, url=HOST + name, source="bench", content_type="text/html")
        try:
            found.append((name, parse_document(path.read_bytes(), request, count_tokens=count_words)))
        except SitegraphError as error:
            print(f"  {name} left out: {error}", file=sys.stderr)
    return found


def count_words(text: str) -> int:
    """Count words for tokens."""
    return len(text.split())


def body_texts(fragment: GraphFragment) -> set[str]:
    """Return the words of body links, each once."""
    return {link.text for link in fragment.links if link.position is LinkPosition.BODY and link.text}


def content_kinds(fragments: Mapping[str, GraphFragment]) -> dict[str, str]:
    """Return the format of each page that is content."""
    pages = (fragment.nodes[0] for fragment in fragments.values())
    return {
        page.id: page.document_kind
        for page in pages
        if isinstance(page, Page) and page.page_kind is PageKind.CONTENT
    }


def share(edges: list[Edge], names: Mapping[str, str], often: frozenset[str]) -> str:
    """Return how many links are noise, and their share."""
    noise = sum(is_noise(edge, names, often) for edge in edges)
    return f"{noise} of {len(edges)} ({noise / max(1, len(edges)):.1%})"


def is_noise(edge: Edge, names: Mapping[str, str], often: frozenset[str]) -> bool:
    """Whether a page at its ends is no content, or its words are those of navigation or of most pages."""
    ends = (names[doc].rpartition("/")[2] for doc in (edge.src, edge.dst))
    words = (edge.anchor_text or "").strip()
    is_of_list = any(end.startswith(NO_CONTENT) for end in ends)
    return is_of_list or words.lower().strip(" «»") in OF_NAVIGATION or words in often


if __name__ == "__main__":
    main()
