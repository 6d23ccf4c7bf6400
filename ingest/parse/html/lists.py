"""What browsers show before a block: the numbers of list items, the labels of tabs."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import islice

from lxml import etree
from lxml.html import HtmlElement

from ingest.parse.html.dom import classes_of
from ingest.parse.html.inline import inline_text
from ingest.parse.html.visibility import opened_elements, word_set
from ingest.parse.wording import COUNTED, item_number

_STYLES = {
    **dict.fromkeys(("lower-alpha", "lower-latin", "loweralpha"), "a"),
    **dict.fromkeys(("upper-alpha", "upper-latin", "upperalpha"), "A"),
    **dict.fromkeys(("lower-roman", "lowerroman"), "i"),
    **dict.fromkeys(("upper-roman", "upperroman"), "I"),
}
"""In CSS, and as docutils and Asciidoctor call them in classes."""

_STYLE = re.compile(r"list-style(?:-type)?:[^;]*?\b(none|(?:lower|upper)-(?:alpha|latin|roman))\b")
_PLAIN = word_set(
    "list-unstyled unstyled list-none list-inline no-bullets breadcrumb breadcrumbs commentlist"
)
"""Classes of lists that show no numbers."""


def item_numbers(ordered: HtmlElement) -> Mapping[HtmlElement, str]:
    """Return the number of each item of an `ol` as it is shown; none where the items are written with theirs.

    Source: WHATWG HTML, 4.4.5 and 4.4.8: `start`, `reversed`, `type`, and `value` of items.
    """
    items = [child for child in ordered if child.tag == "li"]
    style = _style_of(ordered)
    if style is None:
        return {}
    step = -1 if "reversed" in ordered.attrib else 1
    number = _integer(ordered.get("start"), len(items) if step < 0 else 1)
    found = {}
    for item in items:
        number = _integer(item.get("value"), number)
        mark = item.get(COUNTED) or item_number(number, item.get("type") or style)
        if not _is_written(item, mark):
            found[item] = mark
        number += step
    return found


def _style_of(ordered: HtmlElement) -> str | None:
    words = classes_of(ordered)
    stated = _STYLE.search("".join((ordered.get("style") or "").lower().split()))
    name = stated[1] if stated else next((word for word in words if word in _STYLES), "")
    if name == "none" or not _PLAIN.isdisjoint(words):
        return None
    return _STYLES.get(name) or ordered.get("type") or "1"


def _integer(stated: str | None, default: int) -> int:
    text = (stated or "").strip()
    return int(text) if text.removeprefix("-").isdecimal() and len(text) < 8 else default


def _is_written(item: HtmlElement, mark: str) -> bool:
    """Whether an item begins with its number as text."""
    texts = list(islice(filter(None, (str(text).strip() for text in item.itertext())), 2))
    number = mark[:-1]
    return bool(texts) and (
        texts[0].startswith((mark, f"{number})", f"({number})")) or texts[0] == number != texts[-1]
    )


_PANELS = etree.XPath(".//@role[. = 'tabpanel']/.. | .//@class[contains(., 'tab')]/..")
_PANEL_CLASSES = frozenset({"tabbed-block", "tab-pane"})
_LISTS = frozenset({"tabbed-labels", "nav-tabs"})
_NAMES = re.compile(r"[\w-]+")
_SWITCHES = etree.XPath(".//*[input[@type='radio'] and count(label) > 1 and count(*) = 2 * count(label)]")
"""Lists of boxes with labels, of which one shows its panel: as VitePress groups code."""

_TABS = ("button", "label", "a", "li")

_Places = Mapping[HtmlElement, tuple[HtmlElement | None, int]]


@dataclass(frozen=True, slots=True)
class Tabs:
    """`labels` are those of the panels of a page; `lists` hold the labels, and nothing else to read."""

    labels: Mapping[HtmlElement, str] = field(default_factory=dict)
    lists: frozenset[HtmlElement] = frozenset()


def find_tabs(content: HtmlElement, owners: Mapping[str, HtmlElement]) -> Tabs:
    """Find the label of each panel: by `aria-labelledby`, else the one at its place in the list before it.

    Each element is looked at once, however many panels it holds.
    Source: WAI-ARIA Authoring Practices, Tabs pattern; without roles as Material for MkDocs and Bootstrap do.
    Args: owners: the element of each id.
    """
    labels: dict[HtmlElement, str] = {}
    lists: set[HtmlElement] = set()
    places, tabs_of = cache(_places), cache(_tabs_in)
    for switches in _SWITCHES(content):
        panels, names = switches.getnext(), switches.findall("label")
        if panels is not None and len(panels) == len(names):
            labels.update(zip(panels, map(inline_text, names), strict=True))
            lists.add(switches)
    for panel in filter(_is_panel, _PANELS(content)):
        stated = owners.get(panel.get("aria-labelledby") or "")
        found, place = _before(panel, places)
        if stated is None and found is not None and place < len(tabs := tabs_of(found)):
            stated = tabs[place]
        if stated is not None and (text := inline_text(stated)):
            labels[panel] = text
            lists.update(() if found is None else (found,))
    for opener, panel in _opened_panels(content, owners):
        if panel not in labels and (text := inline_text(opener)):
            labels[panel] = text
            lists.add(_list_of(opener))
    return Tabs(labels, frozenset(lists)) if labels else Tabs()


def _opened_panels(
    content: HtmlElement, owners: Mapping[str, HtmlElement]
) -> Iterator[tuple[HtmlElement, HtmlElement]]:
    """Panels of which all but one are hidden, each with the one of several links beside each other to it."""
    beside = {panel.getparent() for panel in opened_elements(content)}
    for opener in content.iter("a", "button") if beside else ():
        href = (opener.get("href") or "").partition("#")[2]
        names = (opener.get("aria-controls"), href, *_NAMES.findall(opener.get("onclick") or ""))
        panel = next((owners[name] for name in names if name in owners), None)
        if (
            panel is not None
            and panel.getparent() in beside
            and len(list(_list_of(opener).iter(opener.tag))) > 1
        ):
            yield opener, panel


def _list_of(opener: HtmlElement) -> HtmlElement:
    around = opener.getparent()
    return around.getparent() if around.tag == "li" else around


def _is_panel(element: HtmlElement) -> bool:
    classes = classes_of(element)
    return element.get("role") == "tabpanel" or not _PANEL_CLASSES.isdisjoint(classes)


def _before(panel: HtmlElement, places: Callable[[HtmlElement], _Places]) -> tuple[HtmlElement | None, int]:
    """The list of tabs before a panel, or before what is around all panels, and the panel's place there."""
    around = panel.getparent()
    if around is None:
        return None, 0
    found, place = places(around)[panel]
    above = around.getparent() if found is None else None
    return (found if above is None else places(above)[around][0]), place


def _places(around: HtmlElement) -> _Places:
    """By child the last list of tabs before it, and how many of its kind stand between."""
    last: HtmlElement | None = None
    before: Counter[tuple[str | None, str]] = Counter()
    places: dict[HtmlElement, tuple[HtmlElement | None, int]] = {}
    for node in around.iterchildren(etree.Element):
        kind = (node.get("role"), node.tag)
        places[node] = (last, before[kind])
        before[kind] += 1
        if node.get("role") == "tablist" or not _LISTS.isdisjoint(classes_of(node)):
            last = node
            before.clear()
    return places


def _tabs_in(tabs: HtmlElement) -> list[HtmlElement]:
    stated = [node for node in tabs.iterdescendants() if node.get("role") == "tab"]
    return stated or next((found for tag in _TABS if (found := list(tabs.iterdescendants(tag)))), [])
