"""Documents that a page shows inside itself, or states in its head beside the links that readers click.

Source: WHATWG HTML, 4.2.4 (link), 4.8.2 (source), 4.8.3 (img), 4.8.6 (embed), 4.8.7 (object).
"""

import re
from collections.abc import Iterator

from lxml.html import HtmlElement

from ingest.parse.html.dom import normal_space
from ingest.parse.html.landmarks import Landmarks
from ingest.parse.html.visibility import is_hidden
from ingest.parse.links import FoundLink
from schemas.edges import LinkPosition

DOCUMENT_TYPES = frozenset(
    {
        "application/epub+zip",
        "application/pdf",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "application/x-ipynb+json",
        "application/xhtml+xml",
        "text/html",
        "text/markdown",
        "text/plain",
        "text/x-rst",
    }
)
"""Media types of what is read here; a feed, a style sheet or a film is stated in the same elements."""

_NAMED = re.compile(r"\.(?:pdf|x?html?|xht|md|markdown|txt|rst|docx|epub|ipynb)\Z", re.IGNORECASE)
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
