"""Notes, captions and footnotes: which elements hold them, and what each is."""

import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from itertools import islice
from urllib.parse import unquote

from lxml import etree
from lxml.html import HtmlElement

from ingest.parse.html.dom import HEADING_LEVELS, class_words, classes_of, name_parts
from ingest.parse.html.inline import inline_text
from ingest.parse.html.visibility import holds_tag, raw_text, word_set
from ingest.parse.outline import BLOCK_JOINT, Block, BoxEnd, BoxStart, Heading, PageStart, Part

TITLE_TAGS = word_set("figcaption p div caption summary span label") | HEADING_LEVELS.keys()
"""Elements that titles and captions are written in."""

_NOTE_TITLES = word_set(
    "admonition-title admonition-heading admonitionheading alert-heading alert-title markdown-alert-title "
    "custom-block-title sd-tab-label"
)
_CODE_TITLES = word_set("code-block-caption codeblocktitle code-block-title filename")
_TITLED = word_set(
    "table figure example informaltable equation procedure listingblock literalblock exampleblock imageblock "
    "stemblock quoteblock ulist olist dlist"
)
_FIGURES = frozenset({"figure", "float"})
_MARKS = frozenset({"a", "br"})
_TEXTUAL = ("table", "pre")


class TitleOf(StrEnum):
    """To what a title belongs."""

    NOTE = "note"
    NEXT = "next"  # the table or listing below it
    LAST = "last"  # the table or listing above it
    PICTURE = "picture"  # something without text


def title_of(element: HtmlElement) -> TitleOf | None:
    """Decide to what a title or caption belongs; None for an element that is neither."""
    if element.tag == "caption":
        return TitleOf.NEXT
    if element.tag == "summary":
        return None if next(element.iterdescendants(*HEADING_LEVELS), None) is not None else TitleOf.NOTE
    if element.tag == "span":
        return TitleOf.NEXT if _names_file(element) else None
    class_ = element.get("class")
    if class_ is None:
        return _place(element) if element.tag == "figcaption" else None
    # Docusaurus appends a hash to its own names: admonitionHeading_Gvgb.
    names = {word.partition("_")[0] for word in class_words(class_)}
    if not _NOTE_TITLES.isdisjoint(names):
        return TitleOf.NOTE
    if not _CODE_TITLES.isdisjoint(names):
        return TitleOf.NEXT
    return _place(element) if element.tag == "figcaption" or _is_named_one(element, names) else None


def _names_file(element: HtmlElement) -> bool:
    """Whether it names the file of the code right behind it, as Material for MkDocs has it."""
    behind = element.getnext()
    named = "filename" in classes_of(element)
    return named and behind is not None and behind.tag == "pre"


def _is_named_one(element: HtmlElement, names: set[str]) -> bool:
    around = element.getparent()
    if around is None:
        return False
    frame = classes_of(around)
    return ("title" in names and not _TITLED.isdisjoint(frame)) or (
        "caption" in names and not _FIGURES.isdisjoint(frame)
    )


def _place(element: HtmlElement) -> TitleOf:
    above = [node for node in element.itersiblings(preceding=True) if node.tag not in _MARKS]
    if any(holds_tag(node, *_TEXTUAL) for node in above):
        return TitleOf.LAST
    below = (text for after in element.itersiblings() for text in after.itertext())
    return TitleOf.NEXT if not above and any(map(str.strip, below)) else TitleOf.PICTURE


@dataclass(frozen=True, slots=True)
class NoteStart:
    """A footnote begins; `marks` are what leads to it from the text."""

    marks: tuple[Hashable, ...]


@dataclass(frozen=True, slots=True)
class NoteEnd:
    """The footnote ends."""


MarkedPart = Part | NoteStart | NoteEnd


def place_notes(
    parts: Sequence[MarkedPart], marks_of: Callable[[Heading | Block], Iterable[Hashable]]
) -> list[Part]:
    """Put each footnote behind the text of the section that holds its first mark.

    One whose mark is in the section that it stands in, or nowhere, stays in its place. A heading under which
    nothing but notes stood goes with them.

    Args: marks_of: everything in a part that may be a mark.
    """
    places: dict[Hashable, int] = {}
    for index, part in enumerate(parts):
        if isinstance(part, Heading | Block):
            places.update((mark, index) for mark in marks_of(part) if mark not in places)
    moved: dict[int, list[range]] = {}
    ends = _section_ends(parts)
    for note, marks in _notes(parts):
        end = ends[min((places[mark] for mark in marks if mark in places), default=len(parts))]
        if end < note.start:
            moved.setdefault(end, []).append(note)
    taken = {index for notes in moved.values() for note in notes for index in note}
    taken |= set(_emptied(parts, taken))
    found: list[Part] = []
    for index, part in enumerate(parts):
        for note in moved.get(index, ()):
            found += _apart(parts[at] for at in note)
        if index not in taken:
            found += _plain((part,))
    return found


def _notes(parts: Sequence[MarkedPart]) -> Iterator[tuple[range, tuple[Hashable, ...]]]:
    """Yield where each footnote is, and its marks."""
    start: int | None = None
    marks: tuple[Hashable, ...] = ()
    for index, part in enumerate(parts):
        if isinstance(part, NoteStart):
            start, marks = index, part.marks
        elif isinstance(part, NoteEnd) and start is not None:
            yield range(start, index), marks
            start = None


def _section_ends(parts: Sequence[MarkedPart]) -> list[int]:
    """Return, for each part, the part before which the text of the section ends that holds it.

    A section whose heading is in a box ends with the box; one whose heading is before it goes on behind it.
    """
    ends = [len(parts)] * (len(parts) + 1)
    at, in_box, page = len(parts), len(parts), len(parts)
    behind: list[tuple[int, int]] = []  # of each box around
    headed = _headed_in_box(parts)
    for index in reversed(range(len(parts))):
        ends[index] = in_box if headed[index] else at
        match parts[index]:
            case PageStart():
                at = in_box = page = index
                behind = [(page, page)] * len(behind)
            case Heading():
                at = in_box = index
            case BoxEnd():
                behind.append((at, in_box))
                in_box = index
            case BoxStart():
                at, in_box = behind.pop() if behind else (page, page)
    return ends


def _headed_in_box(parts: Sequence[MarkedPart]) -> list[bool]:
    """Return, for each part, whether a heading stands between it and the start of the box around it."""
    headed, boxes = [], list[bool]()
    for part in parts:
        headed.append(bool(boxes) and boxes[-1])
        match part:
            case BoxStart():
                boxes.append(False)
            case BoxEnd():
                del boxes[-1:]
            case Heading() if boxes:
                boxes[-1] = True
    return headed


def _emptied(parts: Sequence[MarkedPart], taken: set[int]) -> Iterator[int]:
    """Yield the headings under which nothing but notes stood that are taken away."""
    for index, part in enumerate(parts if taken else ()):
        if isinstance(part, Heading):
            behind = range(index + 1, len(parts))
            end = next((at for at in behind if _ends(parts[at], level=part.level)), len(parts))
            under = range(index + 1, end)
            if not taken.isdisjoint(under) and all(at in taken or not _says(parts[at]) for at in under):
                yield index


def _ends(part: MarkedPart, *, level: int) -> bool:
    return isinstance(part, PageStart) or (isinstance(part, Heading) and part.level <= level)


def _says(part: MarkedPart) -> bool:
    return isinstance(part, Heading | Block) and part.text != ""


def _apart(note: Iterable[MarkedPart]) -> Iterator[Part]:
    """Yield the parts of a note, set apart from the text before it."""
    joint = BLOCK_JOINT
    for part in _plain(note):
        if isinstance(part, Block) and part.text and joint:
            yield replace(part, joint=joint)
            joint = ""
        else:
            yield part


def _plain(parts: Iterable[MarkedPart]) -> Iterator[Part]:
    return (part for part in parts if not isinstance(part, NoteStart | NoteEnd))


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
    return "" if any(title_of(one) is TitleOf.NOTE for one in box.iter("p", "div", "span")) else kind.title()


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
    kinds = [kind for kind in _KINDS if kind in words]
    # Some themes call all of their notes hints.
    return next((kind for kind in kinds if kind != "hint" or len(kinds) == 1), "")


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
        if target is not None and _is_within(link) and _MARK.fullmatch(raw_text(link).strip()):
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
        note: (list(_elements(note))[-1], NoteStart(tuple(of_each[0])))
        for note, of_each in notes.items()
        if len(of_each) == 1
        and next(note.iter(*HEADING_LEVELS), None) is None
        and _leads_back(note, of_each[0], owners)
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
    is_note = box is not None and box.tag == "div" and "footnote" in classes_of(box)
    return box if is_note else block


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
