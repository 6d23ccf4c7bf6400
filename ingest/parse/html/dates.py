"""When a page was last modified or came out, and which version of its manual it says that it is.

Source: schema.org (`dateModified`, `datePublished`), Open Graph (`article:modified_time`), DCMI terms, WHATWG
HTML 4.5.14 (`time`), microformats2 (`dt-updated`). Pages that list others have many dates: where several of a
kind differ, none is the page's.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from lxml import etree
from lxml.html import HtmlElement

from ingest.dates import date_in_words, dated
from ingest.parse.html.dom import meta_contents, normal_space
from ingest.parse.html.visibility import BREAK_TAGS, stands_in, word_set
from schemas.families import VersionFamily
from schemas.nodes import Dated, DateOrigin

_LETTERS = re.compile(r"[^a-z]")
_MODIFIED = word_set(
    "articlemodifiedtime ogarticlemodifiedtime ogupdatedtime ogmodifiedtime datemodified dctermsmodified "
    "dcmodified dcdatemodified dctermsdatemodified lastmodified lastmod lastupdated datelastmodified "
    "dateupdated "
    "modified updated revised modificationdate lastrevised"
)
_PUBLISHED = word_set(
    "articlepublishedtime ogarticlepublishedtime ogpublishedtime datepublished dctermsissued dctermscreated "
    "dctermsdate dcdate dcdateissued dcdatecreated dcissued dccreated date pubdate publishdate datecreated "
    "publicationdate citationpublicationdate citationdate published"
)
"""Names of `meta` elements, by their letters alone: `DC.date.modified`, `article:modified_time`."""

_PAGES = ("Page", "Article", "Posting", "Documentation", "CreativeWork", "HowTo", "Report", "Guide", "Course")
"""With what the types of schema.org end that stand for the page."""
_MAX_DATA = 1_000_000

_CLASSES = word_set(
    "updated modified dt-updated date-modified entry-modified post-modified last-modified last-updated "
    "lastmod lastmodified lastupdated post-last-modified git-revision-date-localized-plugin-date"
)
_SAID = re.compile(
    r"(?:this page (?:was|has been) last edited"
    r"|(?:this page (?:was|has been) |page |document )?(?:was )?"
    r"last[ -]?(?:updated?|modified|changed|revised))\b",
    re.IGNORECASE,
)
_LONGEST = 80
"""Characters in which a date must follow."""
_SPACES = re.compile(r"\s+")
_WITH_LAST = etree.XPath("//text()[contains(., 'Last') or contains(., 'last') or contains(., 'LAST')]")
_QUOTED = frozenset({"pre", "code", "samp", "kbd", "td", "th", "textarea", "script", "style", "template"})


def stated_date(root: HtmlElement) -> Dated | None:
    """Return when the page says that it was last modified, else when it came out; the surest place counts."""
    data = tuple(_data(root))
    return (
        _only(_dates(_said(data, "dateModified"), DateOrigin.JSON_LD))
        or _only(_dates(_metas(root, _MODIFIED), DateOrigin.META))
        or _only(_marked(root))
        or _only(_lines(root))
        or _only(_dates(_said(data, "datePublished"), DateOrigin.PUBLISHED))
        or _only(_dates(_metas(root, _PUBLISHED), DateOrigin.PUBLISHED))
    )


def _only(found: Iterable[Dated | None]) -> Dated | None:
    """The date that all agree on; of several a day may be said as such and to the second."""
    known = {one for one in found if one is not None}
    days = {one.at[:10] for one in known}
    return max(known, key=lambda one: one.at) if len(days) == 1 else None


def _dates(texts: Iterable[object], origin: DateOrigin) -> Iterator[Dated | None]:
    return (dated(text, origin) for text in texts)


def _metas(root: HtmlElement, names: frozenset[str]) -> Iterator[str]:
    for meta in root.iter("meta"):
        keys = (meta.get(key) for key in ("property", "name", "itemprop", "http-equiv"))
        if _LETTERS.sub("", next(filter(None, keys), "").lower()) in names:
            yield meta.get("content") or ""


def _data(root: HtmlElement) -> Iterator[Mapping[str, Any]]:
    """Things that JSON-LD describes and that stand for the page; those of type `WebPage` where it has any."""
    things = [thing for script in root.iter("script") for thing in _things(script)]
    named = [(thing, _types(thing)) for thing in things]
    pages = [thing for thing, types in named if any(name.endswith("Page") for name in types)]
    works = [thing for thing, types in named if any(name.endswith(_PAGES) for name in types)]
    dated_pages = [page for page in pages if "dateModified" in page]
    yield from dated_pages or works


def _things(script: HtmlElement) -> Iterator[Mapping[str, Any]]:
    if (script.get("type") or "").strip().lower() != "application/ld+json":
        return
    text = script.text or ""
    try:
        read = json.loads(text) if len(text) <= _MAX_DATA else None
    except (ValueError, RecursionError):
        return
    for one in read if isinstance(read, list) else [read]:
        if isinstance(one, dict):
            graph = one.get("@graph")
            yield one
            yield from (part for part in (graph if isinstance(graph, list) else ()) if isinstance(part, dict))


def _types(thing: Mapping[str, Any]) -> tuple[str, ...]:
    stated = thing.get("@type")
    return tuple(str(name) for name in (stated if isinstance(stated, list) else [stated]))


def _said(things: Iterable[Mapping[str, Any]], name: str) -> Iterator[object]:
    return (thing[name] for thing in things if name in thing)


def _marked(root: HtmlElement) -> Iterator[Dated | None]:
    """Dates of elements that are marked as telling when the page was modified."""
    for element in root.iter("time", "span", "abbr"):
        names = (element.get("class") or "").lower().split()
        marked = "datemodified" in (element.get("itemprop") or "").lower().split()
        if marked or not _CLASSES.isdisjoint(names):
            yield _date_of(element, normal_space(element.text_content()))


def _lines(root: HtmlElement) -> Iterator[Dated | None]:
    """Lines such as "Last updated on May 3, 2024." that are not in a table or an example."""
    if "last" not in etree.tostring(root, method="text", encoding="unicode").lower():
        return  # the search below takes six times as long
    for text in _WITH_LAST(root):
        node = text.getparent()
        element = node.getparent() if text.is_tail else node
        said = _said_in(text)
        if not said or element is None or element.tag in _QUOTED or stands_in(element, *_QUOTED):
            continue
        yield from (_in_words(line) for line in said[:-1])
        own = _of_program(element)
        yield own if own is not None else _date_after(said[-1], node.itersiblings() if text.is_tail else node)


def _said_in(text: str) -> list[str]:
    """The parts of a text that begin with a line such as "Last updated", each up to the next."""
    parts: list[list[str]] = []
    for line in text.splitlines(keepends=True):
        if _SAID.match(normal_space(line).lstrip("(|·•—– ")):
            parts.append([])
        if parts:
            parts[-1].append(line)
    return [_SPACES.sub(" ", "".join(lines)) for lines in parts]


def _date_after(words: str, following: Iterable[HtmlElement]) -> Dated | None:
    """The date of a line that begins with these words and goes on until a break or the next such line.

    A `time` element counts where no date in words stands before it.
    """
    for piece in _pieces(following):
        if len(words) >= _LONGEST:
            break
        if isinstance(piece, str):
            if _said_in(piece):
                break
            words = _SPACES.sub(" ", words + piece)
        elif piece.tag in BREAK_TAGS:
            break
        elif piece.tag == "time" and (found := _in_words(words) or _of_program(piece)):
            return found
    return _in_words(words)


def _pieces(elements: Iterable[HtmlElement]) -> Iterator[HtmlElement | str]:
    """Elements and texts in the order in which they stand."""
    for element in elements:
        for event, node in etree.iterwalk(element, events=("start", "end")):
            if event == "start":
                yield node
            yield (node.text if event == "start" else node.tail) or ""


def _date_of(element: HtmlElement, words: str) -> Dated | None:
    """The date that an element has for programs, else the first in its words."""
    times = (one for one in (element, *element.iter("time")) if one.get("datetime"))
    return _of_program(next(times, element)) or _in_words(words)


def _of_program(element: HtmlElement) -> Dated | None:
    return dated(element.get("datetime") or element.get("content"), DateOrigin.TIME)


def _in_words(words: str) -> Dated | None:
    return dated(date_in_words(words[:_LONGEST]), DateOrigin.TEXT)


def stated_version(root: HtmlElement, family: VersionFamily) -> str | None:
    """Return what the `meta` element that the family names says, or its pattern finds in the title.

    The title is that of the head, which names the manual, not the heading of the page. None where the page
    says nothing.
    """
    if family.meta is not None:
        said = (normal_space(text) for text in meta_contents(root, family.meta.lower()))
        return next((text for text in said if text), None)
    if family.title is None:
        return None
    title = normal_space("".join(next(root.iter("title"), HtmlElement()).itertext()))
    found = re.search(family.title, title)
    return (found[1] or None) if found else None
