"""What a browser shows, or a click brings into sight, of what the markup puts aside."""

import re

from lxml.html import HtmlElement

from ingest.parse.html.panels import open_panels
from ingest.parse.html.words import BLOCK_TAGS
from ingest.parse.outline import STRUCK

BUTTON_TEXT = "button-text"
"""The tag of a button that is a word of the text around it."""

STRIKE = "strike-mark"
"""The tag of the sign before and behind what is struck out: read, but not shown as text."""

_STRUCK = ("del", "s", "strike")
_NOT_IN = (*_STRUCK, "pre")
_GOES_ON = re.compile(r"[\w.,;:!?)]")


def open_parts(root: HtmlElement) -> None:
    """Give the parts of a tree that a reader gets to see a form in which they are read."""
    _show_shadows(root)
    open_panels(root)
    _set_ruby(root)
    _read_buttons(root)
    _mark_struck(root)


def _show_shadows(root: HtmlElement) -> None:
    """Show what a declared shadow root holds, before the children of its host, which its slots show."""
    for shadow in root.iter("template"):
        if shadow.get("shadowrootmode") is not None:
            shadow.tag = "div"


def _set_ruby(root: HtmlElement) -> None:
    """Leave out readings above the line, but for those that a page puts into brackets."""
    for reading in root.iter("rt", "rtc"):
        around = next(reading.iterancestors("ruby"), reading.getparent())
        if around is None or next(around.iter("rp"), None) is None:
            reading.tag = "template"


def _read_buttons(root: HtmlElement) -> None:
    """Tell buttons that are words of a heading or a sentence from those that do something to the page."""
    for button in root.iter("button"):
        around = button.getparent()
        if around is not None and (_is_in_heading(button) or _goes_on(button)):
            button.tag = BUTTON_TEXT


def _is_in_heading(button: HtmlElement) -> bool:
    """Whether a heading says nothing but what its button does: that folds out what stands below."""
    heading = next(button.iterancestors("h1", "h2", "h3", "h4", "h5", "h6", "dt", "summary"), None)
    return heading is not None and "".join(heading.itertext()).split() == "".join(button.itertext()).split()


def _goes_on(button: HtmlElement) -> bool:
    """Whether the sentence that a button stands in goes on behind it."""
    around = button.getparent()
    behind = button.tail or ""
    if not behind.strip() and around.tag == "p":
        behind = "".join(text for node in button.itersiblings() for text in node.itertext())
    if _GOES_ON.search(behind) is None:
        return False
    before = [around.text, *(node.tail for node in button.itersiblings(preceding=True))]
    return around.tag in {"p", "li", "dd", "td"} or any((text or "").strip() for text in before)


def _mark_struck(root: HtmlElement) -> None:
    """Put signs around what is struck out, as it is no longer said."""
    waiting = [struck for struck in root.iter(*_STRUCK) if next(struck.iterancestors(*_NOT_IN), None) is None]
    while waiting:
        struck = waiting.pop()
        if next(struck.iterdescendants(*BLOCK_TAGS), None) is not None:
            waiting.extend(struck)
        elif "".join(struck.itertext()).strip():
            _put_signs(struck)


def _put_signs(struck: HtmlElement) -> None:
    before, behind = struck.makeelement(STRIKE), struck.makeelement(STRIKE)
    before.text = behind.text = STRUCK
    before.tail, struck.text = (struck.text or "").lstrip(), None
    struck.insert(0, before)
    struck.append(behind)
