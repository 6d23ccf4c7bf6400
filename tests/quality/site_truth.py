"""What really changed between two versions of a site, counted by a second opinion.

    python tests/quality/site_truth.py OLD_FOLDER NEW_FOLDER [--seed index.html]

Knows nothing of the program whose crawls it is held against: lxml and the standard library alone. A page is
an HTML file that links reach from the seed: `a`, `area`, and `link` where it relates a page to read. A block
is the text of a block element of the content that holds no other block element, white space folded; blocks
are counted as a multiset over the site. Navigation, footers (which carry the dates) and what no reader sees
are no content.
"""

import argparse
import hashlib
import json
import re
from collections import Counter, deque
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urldefrag, urljoin

from lxml import html

_NAMES = (
    "p pre li dt dd td th h1 h2 h3 h4 h5 h6 blockquote figcaption caption summary address div section "
    "article main table tbody thead tfoot tr ul ol dl figure details fieldset form hr"
)
BLOCKS = frozenset(_NAMES.split())
UNSEEN = frozenset({"script", "style", "template", "noscript", "head", "nav", "footer"})
AROUND_ROLES = frozenset({"navigation", "contentinfo", "search"})
AROUND_NAMES = frozenset({"navheader", "navfooter", "footer", "related", "sphinxsidebar", "toc"})
"""Classes and ids under which Sphinx, DocBook and AsciiDoc put what is around the content."""

_PLACE = "http://site.invalid/"
_RELATIONS = re.compile(
    r"\b(appendix|author|bookmark|chapter|contents|copyright|first|glossary|help|home|index|last|next|prev|previous"
    r"|search|section|start|subsection|toc|top|up)\b"
)
"""HTML 4.01, 6.12, and what sites use beside it; style sheets, icons and feeds are no pages."""
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class SiteVersion:
    """One version of a site as links reach it: digests of pages by path, and the blocks of all."""

    pages: Mapping[str, str]
    blocks: Counter[str]


def read_site(folder: Path, *, starts: Collection[str]) -> SiteVersion:
    """Follow the links from *starts*, paths under *folder*, and count the blocks of every page on the way."""
    pages: dict[str, str] = {}
    blocks: Counter[str] = Counter()
    waiting = deque(sorted(starts))
    while waiting:
        path = waiting.popleft()
        file = folder / path
        if path in pages or not file.is_file():
            continue
        data = file.read_bytes()
        tree = html.document_fromstring(data)
        pages[path] = hashlib.sha256(data).hexdigest()
        blocks.update(_blocks(tree))
        waiting.extend(_links(tree, path))
    return SiteVersion(pages, blocks)


def new_blocks(old: SiteVersion, new: SiteVersion) -> int:
    """How many blocks the new version holds that the old one does not, each as often as it is new."""
    return (new.blocks - old.blocks).total()


def _links(tree: html.HtmlElement, path: str) -> Iterator[str]:
    for element in (*tree.iter("a", "area"), *_related(tree)):
        target = urldefrag(urljoin(_PLACE + path, element.get("href", "").strip()))[0]
        if target.startswith(_PLACE):
            name = unquote(target.removeprefix(_PLACE).partition("?")[0])
            yield f"{name}index.html" if name.endswith("/") or not name else name


def _related(tree: html.HtmlElement) -> list[html.HtmlElement]:
    return [link for link in tree.iter("link") if _RELATIONS.search(link.get("rel", "").lower())]


def _blocks(tree: html.HtmlElement) -> Iterator[str]:
    for element in _content(tree.find("body")):
        text = _SPACE.sub(" ", "".join(_visible(element))).strip()
        if text:
            yield text


def _content(element: html.HtmlElement | None) -> Iterator[html.HtmlElement]:
    """Return the block elements that hold no other, in order."""
    if element is None or not _is_content(element):
        return
    inner = [child for child in element.iter(*BLOCKS) if child is not element]
    if not inner and element.tag in BLOCKS:
        yield element
        return
    for child in element:
        yield from _content(child)


def _is_content(element: html.HtmlElement) -> bool:
    if not isinstance(element.tag, str) or element.tag in UNSEEN:
        return False
    names = {*element.get("class", "").split(), element.get("id", "")}
    return element.get("role") not in AROUND_ROLES and not names & AROUND_NAMES


def _visible(element: html.HtmlElement) -> Iterator[str]:
    if isinstance(element.tag, str) and element.tag not in UNSEEN:
        yield element.text or ""
        for child in element:
            yield from _visible(child)
            yield child.tail or ""


def main() -> None:
    """Print the difference of two folders as JSON."""
    parser = argparse.ArgumentParser(description="Count what changed between two versions of a site.")
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--seed", default="index.html")
    options = parser.parse_args()
    old, new = (read_site(folder, starts=[options.seed]) for folder in (options.old, options.new))
    print(
        json.dumps(
            {
                "pages": [len(old.pages), len(new.pages)],
                "added": sorted(new.pages.keys() - old.pages.keys()),
                "removed": sorted(old.pages.keys() - new.pages.keys()),
                "blocks": [old.blocks.total(), new.blocks.total()],
                "new_blocks": new_blocks(old, new),
            },
            indent=2,
        )
    )


if __name__ == "__main__":
    main()
