"""Hyperlinks as found on a page > distinct canonical links with counts."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from ingest.urls import canonical_url, split_fragment
from schemas.edges import LinkPosition
from schemas.fragment import Link

MAX_LINKS = 2_000
"""Links kept of one page; a page with more is a listing or a trap, and says so in a warning."""

MAX_TEXT = 300
"""Code points of a link's text; a whole card or table inside a link is not its name."""

_NO_DOCUMENT = ("mailto:", "javascript:", "data:", "tel:", "ftp:", "about:", "blob:")


@dataclass(frozen=True, slots=True)
class FoundLink:
    """A link as written: `href` unresolved, `text` with single spaces."""

    href: str
    text: str
    position: LinkPosition


def collect_links(found: Iterable[FoundLink], *, base: str) -> tuple[tuple[Link, ...], tuple[str, ...]]:
    """Resolve links against *base* and count equal ones; also gives warnings.

    Order is that of first occurrence. What names no document (mail, scripts, malformed URLs) is left out.
    """
    targets: dict[str, tuple[str, str | None] | None] = {}
    counts: Counter[tuple[str, str | None, str, LinkPosition]] = Counter()
    dropped = 0
    for link in found:
        if link.href not in targets:
            targets[link.href] = resolve_href(link.href, base=base)
        target = targets[link.href]
        if target is None:
            continue
        key = (*target, link.text[:MAX_TEXT].strip(), link.position)
        if key not in counts and len(counts) == MAX_LINKS:
            dropped += 1
            continue
        counts[key] += 1
    links = tuple(
        Link(target=target, text=text, position=position, fragment=fragment, count=count)
        for (target, fragment, text, position), count in counts.items()
    )
    return links, (f"links: {dropped} over the limit of {MAX_LINKS} left out",) if dropped else ()


def resolve_href(href: str, *, base: str) -> tuple[str, str | None] | None:
    """Give (canonical URI without fragment, fragment as written in decoded form), or None."""
    href = href.strip()
    if href.lower().startswith(_NO_DOCUMENT):
        return None
    document, fragment = split_fragment(href)
    target = canonical_url(document, base)
    return None if target is None else (target, fragment)
