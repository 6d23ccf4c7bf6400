"""What a page shows by other means than words, written into its tree as words."""

import re

from lxml import etree
from lxml.html import HtmlElement

from ingest.parse.marks import lowered, note_mark, raised

_SET_APART = etree.XPath(
    "//sup | //sub | //span[contains(@class, 'su') or contains(@style, 'vertical-align')]"
)
_BY_CLASS = {"superscript": "sup", "sup": "sup", "super": "sup", "subscript": "sub", "sub": "sub"}
_BY_STYLE = re.compile(r"vertical-align:(super|sub)\b")
_MARK = re.compile(
    r"(?:\w+ )?(?:\d{1,4}[a-z]?|[a-z]{1,2}|[ivxlc]{1,5}|[*\u2020\u2021\u00a7#]{1,4})|[\d,\s\u2013-]+", re.I
)
_NOTE_ROLES = frozenset({"doc-noteref", "noteref"})
_NOTE_CLASSES = ("footnote", "noteref", "fnref", "fn-ref")


def write_signs(root: HtmlElement) -> None:
    """Write raised and lowered signs and marks of notes so that they join no word and no number."""
    for element in reversed(_SET_APART(root)):
        _name_shift(element)
        if element.tag in {"sub", "sup"}:
            _write_shifted(element)
    for link in root.iter("a"):
        text = link.text
        if text is not None and len(text) < 6 and len(link) == 0 and _leads_to_note(link):
            _write_mark(link, text)


def _name_shift(element: HtmlElement) -> None:
    """Call a span what it is set as."""
    if element.tag == "span":
        named = (_BY_CLASS.get(word) for word in (element.get("class") or "").lower().split())
        style = _BY_STYLE.search((element.get("style") or "").replace(" ", ""))
        stated = {"super": "sup", "sub": "sub"}[style[1]] if style else None
        element.tag = next(filter(None, named), stated) or element.tag


def _write_shifted(element: HtmlElement) -> None:
    text = "".join(element.itertext())
    around = next(element.iterancestors("a"), None)
    if any(link.get("href") for link in element.iter("a")):
        return  # its links are looked at by themselves
    if (
        around is not None
        and "".join(around.itertext()).strip() == text.strip()
        and _MARK.fullmatch(text.strip())
    ):
        shown = note_mark(text)
    else:
        shown = raised(text) if element.tag == "sup" else lowered(text)
    if shown != text.strip():
        for inside in element.iterdescendants():  # they stay for their ids
            inside.text = inside.tail = None
        element.text = shown


def _leads_to_note(link: HtmlElement) -> bool:
    """Whether it is a mark: raised, called one, or set right behind a word."""
    href = link.get("href")
    around = link.getparent()
    if href is None or around is None or not _MARK.fullmatch((link.text or "").strip()):
        return False
    if around.tag == "sup":
        return "[" not in (around.text or "")
    kinds = {link.get("role"), link.get("epub:type")}
    if not _NOTE_ROLES.isdisjoint(kinds) or any(word in (link.get("class") or "") for word in _NOTE_CLASSES):
        return "[" not in _before(link)[-1:]
    return href.startswith("#") and link.text.isdigit() and _before(link)[-1:].isalnum()


def _before(link: HtmlElement) -> str:
    beside = link.getprevious()
    around = link.getparent()
    text = (around.text if around is not None else "") if beside is None else beside.tail
    return text or ""


def _write_mark(link: HtmlElement, text: str) -> None:
    """Write a mark as a raised sign, which no browser finds as it is read."""
    link.text = None
    mark = etree.SubElement(link, "sup")
    mark.text = note_mark(text)
