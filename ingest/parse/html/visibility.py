"""What of a page is read: neither hidden elements, nor characters that no reader sees."""

import re
from functools import lru_cache

from lxml import etree
from lxml.html import HtmlElement

from ingest.parse.html.words import word_set

UNSEEN_TAGS = word_set(
    "script style template noscript noframes noembed svg iframe object embed applet canvas audio video map "
    "head button select option textarea input datalist dialog"
)

OPENED = "until-click"
"""The value of `hidden` of what a click opens: it is read, but no search in the page finds it."""

_HIDING = re.compile(
    r"display:none|visibility:hidden|font-size:0(?:\.0*)?(?:px|em|rem|pt|%)?(?:;|!|$)|transform:scale\(0\)"
)
_NO_SIZE = re.compile(r"(?:^|;)(?:max-)?(width|height):0(?:px|em|rem|pt|%)?(?=;|!|$)")
_CLIPPED = re.compile(r"(?:^|;)overflow(?:-[xy])?:(?:hidden|clip)")
_FADED = re.compile(r"(?:^|;)opacity:0(?:\.0*)?(?:;|!|$)")
_MOVES = re.compile(r"(?:^|;)(?:transform|translate|transition|animation|will-change)\b")
_BROUGHT_IN = re.compile(r"aos|w-id|animat|reveal|scroll|\bsal\b|framer|motion|fade|appear|in-?view", re.I)
_ROWS = word_set("tr td th tbody thead tfoot table")

_COLOUR = re.compile(r"(?:^|;)(background-)?(?:color|background):([^;!]+)")

# Zero-width, bidi and tag characters carry text past a reader; ZWJ and ZWNJ stay inside words that need them.
_INVISIBLE = re.compile(
    "[\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]"
    "|(?<![^\\x00-\\x7f])[\u200c\u200d]|[\u200c\u200d](?![^\\x00-\\x7f])"
)


_MAY_HIDE = etree.XPath("//@hidden/.. | //@style/.. | //@aria-hidden/..")


def hidden_elements(root: HtmlElement) -> frozenset[HtmlElement]:
    """Return all hidden elements of the tree of *root*: one search, since most have nothing that hides."""
    return frozenset(filter(is_hidden, _MAY_HIDE(root)))


def opened_elements(root: HtmlElement) -> frozenset[HtmlElement]:
    """Return what is read although it is hidden, since a click opens it."""
    return frozenset(root.iterfind(f".//*[@hidden='{OPENED}']"))


def is_hidden(element: HtmlElement) -> bool:
    """Whether an element is out of a reader's sight by attribute or inline style.

    A tab panel is content however it is hidden: a click away, not out of sight.
    """
    attributes = element.attrib
    if attributes.get("role") == "tabpanel":
        return False
    if "hidden" in attributes:
        return attributes["hidden"] not in {"until-found", OPENED}
    style = attributes.get("style")
    return bool(attributes.get("aria-hidden") == "true") or (
        style is not None
        and (_hides(style, is_row=element.tag in _ROWS) or (_fades(style) and not _is_brought_in(element)))
        and not _is_formula(element)
    )


def _is_formula(element: HtmlElement) -> bool:
    """Whether there is nothing but MathML in it: what is shown in its place is a picture of the same."""
    return len(element) == 1 and element[0].tag == "math"


@lru_cache(maxsize=1024)
def _hides(style: str, *, is_row: bool) -> bool:
    """Whether a style hides; rows grow with their text, and what is not clipped is seen."""
    style = "".join(style.lower().split())
    sides = set() if is_row else set(_NO_SIZE.findall(style))
    if _HIDING.search(style) or len(sides) > 1 or (sides and _CLIPPED.search(style)):
        return True
    colours = {bool(match[1] or "background" in match[0]): match[2] for match in _COLOUR.finditer(style)}
    return len(colours) == 2 and colours[True] == colours[False]


@lru_cache(maxsize=1024)
def _fades(style: str) -> bool:
    style = "".join(style.lower().split())
    return _FADED.search(style) is not None and _MOVES.search(style) is None


def _is_brought_in(element: HtmlElement) -> bool:
    """Whether a page lets it appear as a reader gets to it."""
    return _BROUGHT_IN.search(" ".join((*element.attrib, element.get("class") or ""))) is not None


def strip_invisible(text: str) -> str:
    """Take out characters that no reader sees."""
    return text if text.isascii() else _INVISIBLE.sub("", text)
