"""Panels that a click opens: hidden by the markup, and text all the same."""

import re
from collections import Counter
from itertools import islice, takewhile

from lxml import etree
from lxml.html import HtmlElement

from ingest.parse.html.visibility import OPENED, hidden_elements, is_hidden
from ingest.parse.html.words import word_set

_OPENERS = etree.XPath(
    "//@aria-controls | //@data-target | //@data-bs-target | //a/@href[starts-with(., '#')] | //@onclick"
)
_AROUND_BUTTONS = etree.XPath(
    "(//button | //div[contains(@class, 'utton')] | //a[contains(@class, 'utton')])/.."
)
_CALLED_HIDDEN = etree.XPath("//*[contains(concat(' ', translate(@class, '-_', '  '), ' '), ' hidden ')]")
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
    for box in filter(_asks_reader, _AROUND_BUTTONS(root)):
        box.tag = "dialog"
    hidden = hidden_elements(root).union(_CALLED_HIDDEN(root))
    if hidden:
        _open_hidden(root, hidden)
    for button in root.iter("button"):
        if next(button.iter("h1", "h2", "h3", "h4", "h5", "h6", "p"), None) is not None:
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
    shown = (one for one in reversed(box) if not is_hidden(one) and "".join(one.itertext()).strip())
    behind = list(takewhile(_is_short_button, shown))
    if box.tag not in {"div", "section"} or len(behind) < 2:
        return False
    before = islice(box, box.index(behind[-1]))
    said = " ".join([box.text or "", *(text for one in before for text in one.itertext())]).split()
    return 0 < len(said) <= _LINE and said[-1].endswith(("?", "？", "؟"))


def _is_short_button(element: HtmlElement) -> bool:
    stated = f"{element.tag} {element.get('class')}".lower()
    return "button" in stated and len("".join(element.itertext()).split()) < 3


def _stands_over_text(button: HtmlElement) -> bool:
    """Whether it is the question or the title over a panel."""
    panel = button.getnext()
    if panel is None or not _is_text(panel) or not (button.text_content() or "").strip():
        return False
    return panel.get("hidden") == OPENED or (
        _says_that_it_opens(button) and len(panel.text_content().split()) >= _PASSAGE
    )


def _says_that_it_opens(element: HtmlElement) -> bool:
    return any(element.get(name) is not None for name in ("aria-expanded", "aria-controls", "data-bs-target"))


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
    return head is not None and head not in hidden and 0 < len("".join(head.itertext()).split()) <= _LINE


def _is_text(panel: HtmlElement) -> bool:
    if panel.tag not in _PANELS or panel.get("role") in _ROLES or panel.get("aria-modal") is not None:
        return False
    if _OVERLAYS.search(f"{panel.get('class') or ''} {panel.get('id') or ''}"):
        return False
    if next(panel.iter("input", "select", "textarea", "form", "nav"), None) is not None:
        return False
    words = len("".join(panel.itertext()).split())
    linked = sum(len("".join(link.itertext()).split()) for link in panel.iter("a"))
    return words > 0 and linked < _LINKED * words
