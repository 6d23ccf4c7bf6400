"""What a note is (a warning, a tip), where its markup says so and its text does not; which are footnotes."""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import islice
from urllib.parse import unquote

from lxml import etree
from lxml.html import HtmlElement

from ingest.parse.footnotes import NoteStart
from ingest.parse.html.dom import HEADING_LEVELS, class_words, name_parts
from ingest.parse.html.inline import inline_text
from ingest.parse.html.titles import TitleOf, title_of

_KINDS = ("danger", "warning", "caution", "important", "attention", "error", "hint", "tip", "note")
"""In the order of what is at stake: a class may name a colour besides."""

_STATING = ("class", "data-type", "data-callout", "aria-label")
_MARK = re.compile(r"[\[(]?(?:\d{1,4}|[a-z]|[*\u2020\u2021\u00a7\u00b6#]{1,4})[\])]?", re.IGNORECASE)
"""The words of a link to a footnote."""

_NOTE_TAGS = frozenset({"p", "li", "div", "aside", "dt", "dd", "table", "tr"})

_BEGINNING = 20
"""Code points in which a note says itself what it is: `Warning: ...`, behind a sign."""


def note_label(box: HtmlElement) -> str:
    """Return `Warning` for a box that is one by its class, and neither by its title nor its text; else ""."""
    kind = stated_kind(box)
    if (
        not kind
        or "footnote" in (box.get("class") or "")
        or box.find("summary") is not None
        or kind in inline_text(box)[:_BEGINNING].lower()
    ):
        return ""
    return "" if next(filter(_is_titled, box.iter("p", "div", "span")), None) is not None else kind.title()


def titled(note: HtmlElement, title: str) -> str:
    """Return the *title* of a note behind what the note is, unless it says so: `Warning: Wet paint`."""
    around = note.getparent()
    kind = "" if around is None else stated_kind(around)
    # That something is a note is said by its having a title.
    return f"{kind.title()}: {title}" if kind not in {"", "note"} and kind not in title.lower() else title


def stated_kind(box: HtmlElement) -> str:
    """Return what a box is by its class or label (`warning`), "" where they do not say it."""
    return _kind_in(" ".join(box.get(name) or "" for name in _STATING))


@lru_cache(maxsize=4096)
def _kind_in(stated: str) -> str:
    words = name_parts(stated)
    words -= _shadowed(words)
    return next((kind for kind in _KINDS if kind in words), "")


def _shadowed(words: frozenset[str]) -> frozenset[str]:
    """Return `hint` where it stands beside a kind: some themes call all of their notes so."""
    kinds = words.intersection(_KINDS)
    return frozenset({"hint"}) if len(kinds) > 1 and "hint" in kinds else frozenset()


def _is_titled(element: etree._Element) -> bool:
    return title_of(element) is TitleOf.NOTE


def find_footnotes(
    content: HtmlElement, owners: Mapping[str, HtmlElement]
) -> dict[HtmlElement, tuple[HtmlElement, NoteStart]]:
    """Return the footnotes of a page by their first element, each with its last one and its marks.

    A footnote and its mark, which stands before it and is a number, a letter or a sign, lead to each other,
    whatever wrote the page.
    """
    marks: dict[HtmlElement, list[HtmlElement]] = {}
    for link in content.iter("a"):
        target = owners.get(unquote((link.get("href") or "").partition("#")[2]))
        if target is not None and _is_within(link) and _MARK.fullmatch("".join(link.itertext()).strip()):
            marks.setdefault(target, []).append(link)
    if not marks:
        return {}
    places = {element: place for place, element in enumerate(content.iter(etree.Element))}
    notes: dict[HtmlElement, list[list[HtmlElement]]] = {}
    for target, links in marks.items():
        before = [link for link in links if places[link] < places.get(target, 0)]
        if before and (note := _block_of(target)) is not None and note is not content:
            notes.setdefault(note, []).append(before)
    # A block of several footnotes is their list, and stays where it is.
    return {
        note: (_last_of(note), NoteStart(tuple(of_each[0])))
        for note, of_each in notes.items()
        if len(of_each) == 1 and not _is_section(note) and _leads_back(note, of_each[0], owners)
    }


def _is_within(link: HtmlElement) -> bool:
    return (link.get("href") or "").startswith("#")


def _block_of(target: HtmlElement) -> HtmlElement | None:
    """The block that an id of a footnote stands for; None for what is in a heading."""
    around = (target, *target.iterancestors())
    block = next((one for one in around if one.tag in _NOTE_TAGS), None)
    if block is None or any(one.tag in HEADING_LEVELS for one in around):
        return None
    box = block.getparent()
    is_note = box is not None and box.tag == "div" and "footnote" in class_words(box.get("class") or "")
    return box if is_note else block


def _is_section(block: HtmlElement) -> bool:
    return any(one.tag in HEADING_LEVELS for one in block.iter())


def _leads_back(note: HtmlElement, marks: Iterable[HtmlElement], owners: Mapping[str, HtmlElement]) -> bool:
    inside = (link for element in _elements(note) for link in element.iter("a") if _is_within(link))
    led = {owners.get(unquote(link.get("href")[1:])) for link in inside}
    return any(
        not led.isdisjoint((mark, *islice(mark.iterancestors(), 2), *mark.iter(etree.Element)))
        for mark in marks
    )


def _elements(note: HtmlElement) -> Iterator[HtmlElement]:
    """The elements of a note: a term stands with what follows it."""
    yield note
    for after in note.itersiblings() if note.tag == "dt" else ():
        if after.tag != "dd":
            return
        yield after


def _last_of(note: HtmlElement) -> HtmlElement:
    return list(_elements(note))[-1]
