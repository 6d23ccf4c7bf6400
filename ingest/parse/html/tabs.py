"""Tabs: the label of each panel, which stands apart from it in the markup."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from lxml.html import HtmlElement

from ingest.parse.html.dom import class_words
from ingest.parse.html.inline import inline_text

_PANELS = "descendant-or-self::*[@role='tabpanel' or contains(@class, 'tab')]"
_PANEL_CLASSES = frozenset({"tabbed-block", "tab-pane"})
_LISTS = frozenset({"tabbed-labels", "nav-tabs"})
_TABS = ("button", "label", "a", "li")


@dataclass(frozen=True, slots=True)
class Tabs:
    """`labels` are those of the panels of a page; `lists` hold the labels, and nothing else to read."""

    labels: Mapping[HtmlElement, str] = field(default_factory=dict)
    lists: frozenset[HtmlElement] = frozenset()


def find_tabs(content: HtmlElement, owners: Mapping[str, HtmlElement]) -> Tabs:
    """Find the label of each panel: by `aria-labelledby`, else the one at its place in the list before it.

    Source: WAI-ARIA Authoring Practices, Tabs pattern; without roles as Material for MkDocs and Bootstrap do.
    Args: owners: the element of each id.
    """
    labels: dict[HtmlElement, str] = {}
    lists: set[HtmlElement] = set()
    for panel in filter(_is_panel, content.xpath(_PANELS)):
        stated = owners.get(panel.get("aria-labelledby") or "")
        found = _list_before(panel)
        if stated is None and found is not None:
            stated = _at_place(panel, found)
        if stated is not None and (text := inline_text(stated)):
            labels[panel] = text
            lists.update(() if found is None else (found,))
    return Tabs(labels, frozenset(lists)) if labels else Tabs()


def _is_panel(element: HtmlElement) -> bool:
    classes = class_words(element.get("class") or "")
    return element.get("role") == "tabpanel" or not _PANEL_CLASSES.isdisjoint(classes)


def _list_before(panel: HtmlElement) -> HtmlElement | None:
    """The list of tabs before a panel, or before the element around all panels."""
    around = panel.getparent()
    for element in (panel, *(() if around is None else (around,))):
        for node in element.itersiblings(preceding=True):
            if node.get("role") == "tablist" or not _LISTS.isdisjoint(class_words(node.get("class") or "")):
                return node
    return None


def _at_place(panel: HtmlElement, tabs: HtmlElement) -> HtmlElement | None:
    place = sum(1 for node in panel.itersiblings(preceding=True) if _is_like(node, panel))
    found = list(_tabs_in(tabs))
    return found[place] if place < len(found) else None


def _is_like(node: HtmlElement, panel: HtmlElement) -> bool:
    return bool(node.get("role") == panel.get("role") and node.tag == panel.tag)


def _tabs_in(tabs: HtmlElement) -> Iterator[HtmlElement]:
    stated = [node for node in tabs.iterdescendants() if node.get("role") == "tab"]
    if stated:
        yield from stated
        return
    yield from next((found for tag in _TABS if (found := list(tabs.iterdescendants(tag)))), [])
