"""What of a page is read: what is hidden, what a click opens, and why an element is left out."""

import re
from collections import Counter
from collections.abc import Callable
from enum import StrEnum
from functools import lru_cache
from itertools import islice, takewhile

from lxml import etree
from lxml.html import HtmlElement

from ingest.parse.outline import STRUCK


def word_set(names: str) -> frozenset[str]:
    """The names in *names*, which white space parts."""
    return frozenset(names.split())


def raw_text(element: HtmlElement) -> str:
    """All text under an element, seen or not, as it is written."""
    return "".join(element.itertext())


def count_all_words(element: HtmlElement) -> int:
    """Words of that text."""
    return len(raw_text(element).split())


def holds_tag(element: HtmlElement, *tags: str) -> bool:
    """Whether an element is of one of *tags*, or one of them stands in it."""
    return next(element.iter(*tags), None) is not None


def stands_in(element: HtmlElement, *tags: str) -> bool:
    """Whether an element stands in one of *tags*."""
    return next(element.iterancestors(*tags), None) is not None


BLOCK_TAGS = word_set(
    "address article aside blockquote body caption center dd details dialog dir div dl dt fieldset "
    "figcaption figure footer form frameset h1 h2 h3 h4 h5 h6 header hgroup hr html legend li listing main "
    "menu nav ol p plaintext pre search section summary table tbody td tfoot th thead tr ul xmp"
)
"""Elements that end a block; text runs through any other, known or not. Source: WHATWG HTML, 15.3."""

BREAK_TAGS = BLOCK_TAGS | {"br"}
"""Elements at which a word ends."""


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


_OPENED = etree.XPath(f"descendant::*/@hidden[. = '{OPENED}']/..")
_MAY_HIDE = etree.XPath("//@hidden/.. | //@style/.. | //@aria-hidden/..")


def hidden_elements(root: HtmlElement) -> frozenset[HtmlElement]:
    """Return all hidden elements of the tree of *root*: one search, since most have nothing that hides."""
    return frozenset(filter(is_hidden, _MAY_HIDE(root)))


def opened_elements(root: HtmlElement) -> frozenset[HtmlElement]:
    """Return what is read although it is hidden, since a click opens it."""
    return frozenset(_OPENED(root))


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
        and not (len(element) == 1 and element[0].tag == "math")  # shown in its place is a picture of it
    )


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


_OPENERS = etree.XPath(
    "//@aria-controls | //@data-target | //@data-bs-target | //a/@href[starts-with(., '#')] | //@onclick"
)
_CALLED_HIDDEN = re.compile(r"(?:^|[ _-])hidden(?=\Z|[ _-])")
_NAMES = re.compile(r"[\w-]+")
_TOGGLES = re.compile(r"accordion|collaps|toggle|trigger|expand|question|faq|tab", re.IGNORECASE)
_OVERLAYS = re.compile(
    r"(?<![a-z])(?:menu|modal|pop-?(?:up|over)|tooltip|dialog|drawer|lightbox|overlay|cookie|consent|nav|search|login)",
    re.IGNORECASE,
)
_ROLES = word_set("menu menubar listbox dialog alertdialog tooltip navigation search alert status")
_PANELS = word_set("div section article p dd ul ol dl li table tr tbody span details")
_HEADS = word_set("h1 h2 h3 h4 h5 h6 dt div p a")
_LINKED = 0.3
"""Share of words in links from which on a panel is a menu."""

_SEVERAL = 3
"""Panels of a kind that are folded each below a line of its own, whatever opens them."""

_LINE = 20
_PASSAGE = 5


def open_panels(root: HtmlElement) -> None:
    """Show what is hidden until a reader clicks on what is over it, or on what names it."""
    called = [(one, one.get("class") or "") for one in root.iter(etree.Element)]
    clicked = [one for one, name in called if "utton" in name and one.tag in {"a", "div"}]
    around = dict.fromkeys(one.getparent() for one in (*root.iter("button"), *clicked))
    for box in filter(_asks_reader, around):
        box.tag = "dialog"
    hidden = hidden_elements(root).union(
        one for one, name in called if "hidden" in name and _CALLED_HIDDEN.search(name)
    )
    if hidden:
        _open_hidden(root, hidden)
    for button in root.iter("button"):
        if holds_tag(button, "h1", "h2", "h3", "h4", "h5", "h6", "p"):
            button.tag = "div"
        elif _stands_over_text(button):
            button.tag = "p"


def _open_hidden(root: HtmlElement, hidden: frozenset[HtmlElement]) -> None:
    named = {name for stated in _OPENERS(root) for name in _NAMES.findall(stated)}
    kinds = Counter(map(_kind, hidden))
    for panel in hidden:
        is_opened = panel.get("id") in named or _is_below_opener(panel)
        is_folded = panel.tag != "span" and kinds[_kind(panel)] >= _SEVERAL
        is_opened = is_opened or (is_folded and _is_below_label(panel, hidden))
        if is_opened and _is_text(panel):
            for name in ("style", "aria-hidden"):
                panel.attrib.pop(name, None)
            panel.set("hidden", OPENED)


def _asks_reader(box: HtmlElement) -> bool:
    """Whether it asks what a reader thinks of the page: a short question over buttons of a word or two."""
    shown = (one for one in reversed(box) if not is_hidden(one) and raw_text(one).strip())
    behind = list(takewhile(_is_short_button, shown))
    if box.tag not in {"div", "section"} or len(behind) < 2:
        return False
    before = islice(box, box.index(behind[-1]))
    said = " ".join([box.text or "", *(text for one in before for text in one.itertext())]).split()
    return 0 < len(said) <= _LINE and said[-1].endswith(("?", "？", "؟"))


def _is_short_button(element: HtmlElement) -> bool:
    stated = f"{element.tag} {element.get('class')}".lower()
    return "button" in stated and count_all_words(element) < 3


def _stands_over_text(button: HtmlElement) -> bool:
    """Whether it is the question or the title over a panel."""
    panel = button.getnext()
    if panel is None or not _is_text(panel) or not (button.text_content() or "").strip():
        return False
    opens = any(button.get(name) is not None for name in ("aria-expanded", "aria-controls", "data-bs-target"))
    return panel.get("hidden") == OPENED or (opens and len(panel.text_content().split()) >= _PASSAGE)


def _is_below_opener(panel: HtmlElement) -> bool:
    head = panel.getprevious()
    if head is None:
        return False
    if head.tag == "button" or head.get("role") == "button" or head.get("aria-expanded") is not None:
        return True
    if head.tag not in _HEADS:
        return False
    opens = _TOGGLES.search(head.get("class") or "") or head.get("onclick") is not None
    return bool(opens) or any(_opens(one) for one in head.iterdescendants("button", "a", "span", "div"))


def _opens(element: HtmlElement) -> bool:
    return element.tag == "button" or element.get("aria-expanded") is not None


def _kind(panel: HtmlElement) -> tuple[str, str | None, str | None]:
    return panel.tag, panel.get("class"), panel.get("style")


def _is_below_label(panel: HtmlElement, hidden: frozenset[HtmlElement]) -> bool:
    """Whether a shown line stands over it, as a question over its answer."""
    head = panel.getprevious()
    return head is not None and head not in hidden and 0 < count_all_words(head) <= _LINE


def _is_text(panel: HtmlElement) -> bool:
    if panel.tag not in _PANELS or panel.get("role") in _ROLES or panel.get("aria-modal") is not None:
        return False
    if _OVERLAYS.search(f"{panel.get('class') or ''} {panel.get('id') or ''}"):
        return False
    if holds_tag(panel, "input", "select", "textarea", "form", "nav"):
        return False
    words = count_all_words(panel)
    linked = sum(count_all_words(link) for link in panel.iter("a"))
    return words > 0 and linked < _LINKED * words


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
    return heading is not None and raw_text(heading).split() == raw_text(button).split()


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
        elif raw_text(struck).strip():
            _put_signs(struck)


def _put_signs(struck: HtmlElement) -> None:
    before, behind = struck.makeelement(STRIKE), struck.makeelement(STRIKE)
    before.text = behind.text = STRUCK
    before.tail, struck.text = (struck.text or "").lstrip(), None
    struck.insert(0, before)
    struck.append(behind)


class SkipReason(StrEnum):
    """What an element inside the content is left out for, with all that stands in it."""

    UNREAD = "unread"  # a tag whose text is none of the page's: scripts, form controls, embedded objects
    HIDDEN = "hidden"
    PERMALINK = "permalink"  # or a link to source code
    LINE_NUMBERS = "line_numbers"
    REPEATED = "repeated"  # the same is read elsewhere: labels of tabs, a formula as it is drawn
    LANDMARK = "landmark"  # by tag or role it is navigation, search, footer or aside
    CHROME = "chrome"  # by class or id it is what the page's family writes around its content
    SITE_TITLE = "site_title"  # the name of the site over each page, whose own title stands below
    UNVOTED = "unvoted"  # trafilatura passed it over, and it does not read as a part of the text


OnLeftOut = Callable[[HtmlElement, SkipReason], None]
"""Told of each element that is left out and why."""
