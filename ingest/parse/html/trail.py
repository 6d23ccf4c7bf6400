"""Breadcrumbs: the trail the page prints, else the folders of its address."""

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote, urlsplit

from lxml.html import HtmlElement

from ingest.parse.html.dom import Survey, class_words, name_parts, normal_space
from ingest.parse.html.inline import inline_text
from schemas.unseen import whole_text

MAX_CRUMBS = 12
MAX_JSON_LD = 65_536

_CRUMB_WORDS = frozenset({"breadcrumb", "breadcrumbs"})
_ABOVE = {"home": "home", "start": "home", "h": "home", "up": "up", "u": "up"}
_SEPARATORS = "»›>/→|· \u00a0"


def read_trail(survey: Survey, *, uri: str, title: str) -> tuple[str, ...]:
    """Return the names from the site's top to this page.

    Taken from an element that calls itself breadcrumb, then JSON-LD BreadcrumbList, then Sphinx's bar of
    related pages, then the titles of the start and of the page above, then the path of the address with the
    page's own title at its end.
    """
    printed = _printed_trail(survey) or _json_ld_trail(survey.root) or _sphinx_trail(survey)
    above = [] if printed else _trail_above(survey.root)
    if above and title:
        printed = [*above, title]
    return tuple(printed[:MAX_CRUMBS]) if printed else _path_trail(uri, title)


def _printed_trail(survey: Survey) -> list[str]:
    for element in _crumb_elements(survey):
        items = [node for node in element.iter("li") if "aside" not in name_parts(node.get("class") or "")]
        leaves = items or list(element.iter("a"))
        names = [inline_text(node).strip(_SEPARATORS) for node in leaves]
        names = [name for name in names if name]
        if names:
            return names
    return []


def _crumb_elements(survey: Survey) -> Iterator[HtmlElement]:
    for nav in survey.root.iter("nav"):
        if "breadcrumb" in (nav.get("aria-label") or "").lower():
            yield nav
    if any("breadcrumb" in word for word in survey.classes):
        for element in survey.root.iter("nav", "ul", "ol", "div", "p"):
            if not _CRUMB_WORDS.isdisjoint(name_parts(element.get("class") or "")):
                yield element


def _json_ld_trail(root: HtmlElement) -> list[str]:
    for script in root.iter("script"):
        text = script.text
        if script.get("type") == "application/ld+json" and text and len(text) <= MAX_JSON_LD:
            names = _breadcrumb_names(text)
            if names:
                return names
    return []


def _breadcrumb_names(text: str) -> list[str]:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return []
    items: list[Any] = data if isinstance(data, list) else [data]
    for item in items:
        graph = item.get("@graph") if isinstance(item, dict) else None
        if isinstance(graph, list):
            items = [*items, *graph]
    for item in items:
        if isinstance(item, dict) and item.get("@type") == "BreadcrumbList":
            return [name for name in map(_crumb_name, item.get("itemListElement") or ()) if name]
    return []


def _crumb_name(entry: Any) -> str:
    if not isinstance(entry, dict):
        return ""
    inner = entry.get("item")
    name = entry.get("name") or (inner.get("name") if isinstance(inner, dict) else "")
    return whole_text(name.strip()) if isinstance(name, str) else ""


def _sphinx_trail(survey: Survey) -> list[str]:
    if "related" not in survey.classes:
        return []
    for bar in survey.root.iter("div"):
        if "related" in class_words(bar.get("class") or ""):
            items = [node for node in bar.iter("li") if "right" not in class_words(node.get("class") or "")]
            names = [inline_text(node).strip(_SEPARATORS) for node in items]
            return [name for name in names if name]
    return []


def _trail_above(root: HtmlElement) -> list[str]:
    """Titles behind rel=home and rel=up, or behind the keys h and u that DocBook and texinfo give them."""
    titles: dict[str, str] = {}
    for link in root.iter("link", "a"):
        for name in (link.get("rel"), link.get("accesskey")):
            level = _ABOVE.get((name or "").lower())
            if level is not None and link.get("title"):
                titles.setdefault(level, normal_space(link.get("title") or ""))
    if "up" not in titles:
        return []
    return list(dict.fromkeys(titles[level] for level in ("home", "up") if level in titles))


def _path_trail(uri: str, title: str) -> tuple[str, ...]:
    folders = [unquote(name) for name in urlsplit(uri).path.split("/")[:-1] if name]
    return (*folders[: MAX_CRUMBS - 1], title) if title else tuple(folders[:MAX_CRUMBS])
