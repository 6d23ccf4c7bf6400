"""What a note is (a warning, a tip), where its markup says so and its text does not."""

from lxml import etree
from lxml.html import HtmlElement

from ingest.parse.html.dom import name_parts
from ingest.parse.html.titles import TitleOf, title_of

_KINDS = ("danger", "warning", "caution", "important", "attention", "error", "hint", "tip", "note")
"""In the order of what is at stake: a class may name a colour besides."""

_BEGINNING = 20
"""Code points in which a note says itself what it is: `Warning: ...`, behind a sign."""


def note_label(box: HtmlElement) -> str:
    """Return `Warning` for a box that is one by its class, and neither by its title nor its text; else ""."""
    kind = stated_kind(box)
    if (
        not kind
        or "footnote" in (box.get("class") or "")
        or box.find("summary") is not None
        or kind in "".join(box.itertext()).lstrip()[:_BEGINNING].lower()
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
    """Return what a box is by its class (`warning`), "" where that does not say it."""
    words = name_parts(box.get("class") or "")
    return next((kind for kind in _KINDS if kind in words - _shadowed(words)), "")


def _shadowed(words: frozenset[str]) -> frozenset[str]:
    """Return `hint` where it stands beside a kind: some themes call all of their notes so."""
    kinds = words.intersection(_KINDS)
    return frozenset({"hint"}) if len(kinds) > 1 and "hint" in kinds else frozenset()


def _is_titled(element: etree._Element) -> bool:
    return title_of(element) is TitleOf.NOTE
