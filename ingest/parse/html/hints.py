"""What a page says of its place in the site: canonical address, trail, embedded documents.

Hints are believed only inside one owner's domain. Source: WHATWG HTML, 4.2.3 (base), 4.2.4 (link), 4.2.5.3
(refresh), 4.6.7 (link types), 4.8.2 (source), 4.8.3 (img), 4.8.6 (embed), 4.8.7 (object); RFC 6596; crawl
rules, section 5.
"""

import json
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote, urlsplit

from lxml.html import HtmlElement

from ingest.parse.access import RobotsDirectives, meta_directives, read_directives
from ingest.parse.html.dom import Survey, classes_of, meta_contents, name_parts, normal_space
from ingest.parse.html.inline import inline_text
from ingest.parse.html.landmarks import Landmarks
from ingest.parse.html.visibility import is_hidden, stands_in, word_set
from ingest.parse.links import FoundLink, resolve_href
from ingest.urls import refresh_place, registrable_domain
from ingest.uses import TDM, TDM_POLICY, terms_of_directives, terms_of_reservation
from schemas.edges import LinkPosition
from schemas.fragment import ParseRequest
from schemas.text import whole_text
from schemas.uses import UseOrigin, UseTerms

_QUOTED = re.compile(r"""(["'`])([^"'`\s]{1,2000})\1""")


def base_of(root: HtmlElement, uri: str) -> str:
    """Where relative links start: the first `<base href>` if it stays with the owner of *uri*, else *uri*."""
    href = next((base.get("href") for base in root.iter("base") if base.get("href") is not None), "")
    return _same_owner(href, base=uri, uri=uri) or uri


def canonical_of(root: HtmlElement, *, base: str, uri: str) -> str | None:
    """The other address that the head names as the page's own; None for none, itself, or several."""
    named = {_same_owner(href, base=base, uri=uri) for href, _ in _head_links(root, "canonical")}
    target = named.pop() if len(named) == 1 else None
    return None if target == uri else target


def alternates_of(root: HtmlElement, *, base: str, uri: str) -> tuple[str, ...]:
    """Addresses of the page in other languages (`hreflang`), distinct, in order."""
    return tuple(dict.fromkeys(target for _, target in _spoken(root, base, uri) if target != uri))


def stated_translations(root: HtmlElement, *, base: str, uri: str) -> tuple[str, ...]:
    """Return those of them that are in one language: `x-default` is for readers of any other.

    Source: Google Search Central, "Tell Google about localized versions of your page".
    """
    told = (target for tag, target in _spoken(root, base, uri) if not _is_any(tag) and target != uri)
    return tuple(dict.fromkeys(told))


def language_beside_others(root: HtmlElement, *, base: str, uri: str) -> str | None:
    """Return the language in which the page names itself among its translations; None where it does not."""
    return next((tag for tag, to in _spoken(root, base, uri) if not _is_any(tag) and to == uri), None)


def _is_any(tag: str) -> bool:
    return tag.casefold() == "x-default"


def _spoken(root: HtmlElement, base: str, uri: str) -> Iterator[tuple[str, str]]:
    for href, link in _head_links(root, "alternate"):
        tag, target = (link.get("hreflang") or "").strip()[:35], _same_owner(href, base=base, uri=uri)
        if tag and target is not None:
            yield tag, target


_FEEDS = word_set("application/rss+xml application/atom+xml")


def feeds_of(root: HtmlElement, *, base: str) -> tuple[str, ...]:
    """Feeds in RSS or Atom that the head names, distinct, in order."""
    named = (href for href, link in _head_links(root, "alternate") if _type(link) in _FEEDS)
    return tuple(dict.fromkeys(to[0] for href in named if (to := resolve_href(href, base=base)) is not None))


def refresh_of(root: HtmlElement, *, base: str, uri: str) -> str | None:
    """Where a meta refresh of at most 5 s leads; None for a slower one, a reload, and what scripts undo.

    One for those without scripts counts where a script leads to the same place.
    """
    for meta in root.iter("meta"):
        is_refresh = (meta.get("http-equiv") or "").lower() == "refresh"
        place = refresh_place(meta.get("content") or "") if is_refresh else None
        if place is None:
            continue
        target = resolve_href(place, base=base)
        is_alone = stands_in(meta, "noscript")
        if target is not None and not (is_alone and target[0] not in _led_by_script(root, base)):
            return None if target[0] == uri else target[0]
    return None


def _led_by_script(root: HtmlElement, base: str) -> set[str]:
    """Addresses in the scripts of a page that set its location."""
    scripts = (script.text for script in root.iter("script") if "location" in (script.text or ""))
    places = (resolve_href(match[2], base=base) for text in scripts for match in _QUOTED.finditer(text))
    return {place[0] for place in places if place is not None}


def robots_of(root: HtmlElement, request: ParseRequest) -> RobotsDirectives:
    """What robots may do with the page, by its meta elements and its header."""
    metas = meta_contents(root, "robots", request.robot)
    return read_directives(request.x_robots_tag, metas, robot=request.robot)


def stated_uses(root: HtmlElement, request: ParseRequest) -> UseTerms:
    """What the meta elements of a page say that it may be used for, without times."""
    words = meta_directives(meta_contents(root, "robots", request.robot))
    policy = next(meta_contents(root, TDM_POLICY), None)
    reserved = terms_of_reservation(next(meta_contents(root, TDM), None), policy, UseOrigin.META)
    return (*terms_of_directives(words, UseOrigin.META), *reserved)


def _head_links(root: HtmlElement, rel: str) -> Iterator[tuple[str, HtmlElement]]:
    """Links of the head; one in the body may come from whoever wrote a comment there."""
    head = root.find("head")
    for link in () if head is None else head.iter("link"):
        if rel in (link.get("rel") or "").lower().split() and link.get("href"):
            yield link.get("href"), link


def _same_owner(href: str, *, base: str, uri: str) -> str | None:
    """The address *href* names, if it is on the web and its domain was registered by the owner of *uri*'s.

    A local file has no owner on the web: what it names so is of no account.
    """
    resolved = resolve_href(href, base=base)
    if resolved is None or not all(url.startswith(("http://", "https://")) for url in (resolved[0], uri)):
        return None
    return resolved[0] if registrable_domain(resolved[0]) == registrable_domain(uri) else None


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
        if "related" in classes_of(bar):
            items = [node for node in bar.iter("li") if "right" not in classes_of(node)]
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


DOCUMENT_TYPES = word_set(
    "application/epub+zip application/pdf application/x-ipynb+json application/xhtml+xml "
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document "
    "text/html text/markdown text/plain text/x-rst"
)
"""Media types of what is read here; a feed, a style sheet or a film is stated in the same elements."""

_NAMED = re.compile(r"\.(?:pdf|x?html?|xht|md|markdown|txt|rst|docx|pptx|xlsx|epub|ipynb)\Z", re.IGNORECASE)
_ENDING = re.compile(r"\.[^./]*\Z")
_CANDIDATE = re.compile(r"[\t\n\f\r ,]*+([^\t\n\f\r ]+)")
_DESCRIPTORS = re.compile(r"(?:\([^)]*\)?|[^,(])*+")


def stated_links(root: HtmlElement, relations: frozenset[str]) -> Iterator[FoundLink]:
    """Links of `link` elements: those of *relations*, and other forms of the page that are documents.

    What an `alternate` is in another language is a hint (`ingest.parse.html.hints.alternates_of`).
    """
    for stated in root.iter("link"):
        href, words = stated.get("href"), (stated.get("rel") or "").lower().split()
        if href and (not relations.isdisjoint(words) or _is_other_form(stated, words)):
            yield FoundLink(href, normal_space(stated.get("title") or ""), LinkPosition.NAV)


def embedded_links(root: HtmlElement, landmarks: Landmarks) -> Iterator[FoundLink]:
    """Links to the documents that frames, objects, embeds and, by their names, pictures show."""
    for element in root.iter("frame", "iframe", "object", "embed", "img", "source"):
        shown = tuple(_shown_by(element))
        if shown and not is_hidden(element):  # what counts visitors stands in a frame that is hidden
            name, position = _name(element), landmarks.position_of(element)
            yield from (FoundLink(href, name, position) for href in shown)


def srcset_urls(value: str) -> Iterator[str]:
    """Addresses of a `srcset`, in order. Source: WHATWG HTML, 4.8.4.2.2, "parse a srcset attribute"."""
    at = 0
    while candidate := _CANDIDATE.match(value, at):
        yield candidate[1].rstrip(",")
        at = candidate.end()
        if not candidate[1].endswith(",") and (rest := _DESCRIPTORS.match(value, at)):
            at = rest.end()


def _is_other_form(stated: HtmlElement, words: list[str]) -> bool:
    return "alternate" in words and "stylesheet" not in words and _type(stated) in DOCUMENT_TYPES


def _shown_by(element: HtmlElement) -> Iterator[str]:
    if element.tag in ("frame", "iframe"):
        yield from filter(None, [element.get("src")])
    elif element.tag in ("object", "embed"):
        href = element.get("data" if element.tag == "object" else "src")
        if href and _may_be_document(element, href):
            yield href
    else:
        named = (element.get("src") or "", *srcset_urls(element.get("srcset") or ""))
        yield from (href for href in dict.fromkeys(named) if _NAMED.search(_path(href)))


def _may_be_document(element: HtmlElement, href: str) -> bool:
    """By the type that is stated, else by the ending of the name, if it has one."""
    if _type(element):
        return _type(element) in DOCUMENT_TYPES
    path = _path(href)
    return _ENDING.search(path) is None or _NAMED.search(path) is not None


def _type(element: HtmlElement) -> str:
    return (element.get("type") or "").partition(";")[0].strip().lower()


def _path(href: str) -> str:
    return re.split(r"[?#]", href.strip(), maxsplit=1)[0]


def _name(element: HtmlElement) -> str:
    named = (element.get(attribute) for attribute in ("title", "aria-label", "alt", "name"))
    return normal_space(next((name for name in named if name), ""))
