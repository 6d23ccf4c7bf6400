"""Hyperlinks as found on a page > distinct canonical links with counts."""

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ingest.urls import MAX_LENGTH, canonical_url, split_fragment
from schemas.edges import LinkPosition
from schemas.fragment import Link

MAX_TEXT = 300
"""Code points of a link's text; a whole card or table inside a link is not its name."""

MAX_NAMED = 80
"""Code points of a wrong link that a warning repeats."""

# What browsers cut off both ends of an address; a no-break space is part of it (WHATWG URL, 4.4).
_AROUND = "".join(map(chr, range(0x21)))
_OTHER_SCHEME = re.compile(r"(?!https?:)[a-z][a-z0-9+.-]*:", re.IGNORECASE)
_NO_DOCUMENT = ("mailto:", "javascript:", "data:", "tel:", "ftp:", "about:", "blob:")


@dataclass(frozen=True, slots=True)
class FoundLink:
    """A link as written: `href` unresolved, `text` with single spaces; `key` is what the outline calls it."""

    href: str
    text: str
    position: LinkPosition
    key: Hashable = None


@dataclass(frozen=True, slots=True)
class CollectedLinks:
    """Distinct links in order of first occurrence, what was left out, and the links by their keys."""

    links: tuple[Link, ...]
    warnings: tuple[str, ...] = ()
    by_key: Mapping[Hashable, Link] = field(default_factory=dict)


def collect_links(
    found: Iterable[FoundLink], *, base: str, encode: Callable[[str], str] | None = None
) -> CollectedLinks:
    """Resolve links against *base* and count equal ones; *encode* percent-encodes queries, in UTF-8 if None.

    All are kept: a general index has tens of thousands, and the size of the page bounds them. What names no
    document (mail, scripts) is left out. So are addresses that no browser could follow, and a
    warning counts them.
    """
    targets: dict[str, tuple[str, str | None] | None] = {}
    counts: Counter[tuple[str, str | None, str, LinkPosition]] = Counter()
    keys: dict[Hashable, tuple[str, str | None, str, LinkPosition]] = {}
    wrong: dict[str, None] = {}
    overlong = 0
    for link in found:
        if link.href not in targets:
            targets[link.href] = resolve_href(link.href, base=base, encode=encode)
        target = targets[link.href]
        if target is None:
            if len(link.href) > MAX_LENGTH:
                overlong += not _names_no_document(link.href)
            elif _is_wrong(link.href):
                wrong[link.href] = None
            continue
        key = (*target, link.text[:MAX_TEXT].strip(), link.position)
        counts[key] += 1
        if link.key is not None:
            keys[link.key] = key
    links = tuple(
        Link(target=target, text=text, position=position, fragment=fragment, count=count)
        for (target, fragment, text, position), count in counts.items()
    )
    warnings = _wrong_links(tuple(wrong))
    if overlong:
        warnings = (f"links: {overlong} longer than {MAX_LENGTH} characters left out", *warnings)
    by_count = dict(zip(counts, links, strict=True))
    return CollectedLinks(links, warnings, {key: by_count[link] for key, link in keys.items()})


def resolve_href(
    href: str, *, base: str, encode: Callable[[str], str] | None = None
) -> tuple[str, str | None] | None:
    """Return (canonical URI without fragment, fragment as written in decoded form), or None."""
    if _names_no_document(href):
        return None
    document, fragment = split_fragment(href.strip(_AROUND))
    path, mark, query = document.partition("?")
    if encode is not None and not query.isascii():
        document = f"{path}{mark}{encode(query)}"
    target = canonical_url(document, base)
    return None if target is None else (target, fragment)


def _names_no_document(href: str) -> bool:
    return href[:20].strip().lower().startswith(_NO_DOCUMENT)


def _is_wrong(href: str) -> bool:
    """Whether an address is meant to lead to a document, by its scheme or the lack of one, and cannot."""
    plain = re.sub(r"[\t\n\r]", "", href.strip(_AROUND))
    return _OTHER_SCHEME.match(plain) is None


def _wrong_links(wrong: Sequence[str]) -> tuple[str, ...]:
    """One line for all wrong links of a page; one that may carry a password is not repeated."""
    if not wrong:
        return ()
    shown = next((" ".join(href.split()) for href in wrong if "@" not in href), "")
    such = f", such as {shown[:MAX_NAMED]!r}" if shown else ""
    return (f"links: {len(wrong)} that no browser could follow left out{such}",)
