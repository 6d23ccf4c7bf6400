"""Whether an answer shows that nobody is logged in, by the signs that a source names."""

import re
from fnmatch import fnmatchcase

from bs4 import BeautifulSoup

from ingest.parse.html.charset import decode_html
from ingest.parse.html.soup import parse_soup
from ingest.urls import canonical_url, refresh_place
from schemas.errors import ParseError
from schemas.fetch import FetchResult
from schemas.source import LoggedOut

_MARKUP = re.compile(rb"\s*<(?:!doctype\s+html|html)\b", re.IGNORECASE)
_UNSEEN = ("script", "style", "template", "noscript")


def shown_sign(sign: LoggedOut, result: FetchResult) -> str | None:
    """Say which sign *result* shows; None for none. What the site says itself is not repeated.

    An address counts where an HTTP redirect leads, or one that the page makes at once (meta refresh).
    """
    if _leads(sign, result.location):
        return f"leads to {sign.address} (logged_out.address)"
    if not _is_looked_into(sign, result):
        return None
    try:
        soup = parse_soup(decode_html(result.body or b"", result.content_type), subject=result.url)
    except ParseError:
        return None
    if sign.address and any(_leads(sign, place) for place in _refreshes(soup, result.url)):
        return f"leads to {sign.address} (logged_out.address)"
    if sign.selector and soup.select_one(sign.selector) is not None:
        return f"has {sign.selector} (logged_out.selector)"
    if sign.text and _words(sign.text) in _words(_seen_text(soup)):
        return f"says {sign.text!r} (logged_out.text)"
    return None


def _leads(sign: LoggedOut, place: str | None) -> bool:
    return bool(place and sign.address) and fnmatchcase(place or "", sign.address or "")


def _is_looked_into(sign: LoggedOut, result: FetchResult) -> bool:
    body = result.body or b""
    if not (_MARKUP.match(body) or "html" in (result.content_type or "").lower()):
        return False
    return bool(sign.selector or sign.text) or b"refresh" in body.lower()


def _refreshes(soup: BeautifulSoup, base: str) -> list[str | None]:
    metas = soup.select('meta[http-equiv="refresh" i][content]')
    places = (refresh_place(str(meta["content"])) for meta in metas)
    return [canonical_url(place, base) for place in places if place is not None]


def _seen_text(soup: BeautifulSoup) -> str:
    for tag in soup.find_all(_UNSEEN):
        tag.decompose()
    return soup.get_text(" ")


def _words(text: str) -> str:
    return " ".join(text.split()).casefold()
