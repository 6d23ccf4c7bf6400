"""Titles of notes and captions of tables, figures and listings: which elements are, and of what."""

from collections.abc import Iterable
from enum import StrEnum

from lxml.html import HtmlElement

from ingest.parse.html.dom import HEADING_LEVELS, class_words
from ingest.parse.html.words import word_set

TITLE_TAGS = word_set("figcaption p div caption summary span label") | HEADING_LEVELS.keys()
"""Elements that titles and captions are written in."""

_NOTE_TITLES = word_set(
    "admonition-title admonition-heading admonitionheading alert-heading alert-title markdown-alert-title "
    "sd-tab-label"
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
    named = "filename" in class_words(element.get("class") or "")
    return named and behind is not None and behind.tag == "pre"


def _is_named_one(element: HtmlElement, names: set[str]) -> bool:
    around = element.getparent()
    if around is None:
        return False
    frame = class_words(around.get("class") or "")
    return ("title" in names and not _TITLED.isdisjoint(frame)) or (
        "caption" in names and not _FIGURES.isdisjoint(frame)
    )


def _place(element: HtmlElement) -> TitleOf:
    above = [node for node in element.itersiblings(preceding=True) if node.tag not in _MARKS]
    if any(_holds_textual(node) for node in above):
        return TitleOf.LAST
    return TitleOf.NEXT if not above and _holds_text(element.itersiblings()) else TitleOf.PICTURE


def _holds_textual(element: HtmlElement) -> bool:
    return element.tag in _TEXTUAL or next(element.iterdescendants(*_TEXTUAL), None) is not None


def _holds_text(elements: Iterable[HtmlElement]) -> bool:
    return any(text.strip() for element in elements for text in element.itertext())
