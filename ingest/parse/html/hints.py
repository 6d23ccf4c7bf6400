"""What a page says about itself and its place in the site; hints, believed only inside one owner's domain.

Source: WHATWG HTML, 4.2.3 (base), 4.2.5.3 (refresh), 4.6.7 (link types); RFC 6596; crawl rules, section 5.
"""

import re
from collections.abc import Iterator

from lxml.html import HtmlElement

from ingest.parse.html.dom import meta_contents
from ingest.parse.links import resolve_href
from ingest.parse.robots import RobotsDirectives, read_directives
from ingest.urls import refresh_place, registrable_domain
from schemas.fragment import ParseRequest

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
    named = (
        _same_owner(href, base=base, uri=uri)
        for href, link in _head_links(root, "alternate")
        if link.get("hreflang")
    )
    found = dict.fromkeys(target for target in named if target is not None and target != uri)
    return tuple(found)


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
        is_alone = next(meta.iterancestors("noscript"), None) is not None
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
