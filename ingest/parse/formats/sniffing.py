"""Text, markup and binary told apart by first bytes and by what a server calls them."""

import re

from schemas.formats import media_type

XML_TYPES = ("text/xml", "application/xml")

_MARKUP = re.compile(
    rb"<!doctype\s+html|<(?:html|head|title|body|meta|link|script|div|h[1-6]|p|table|a|span|ul|ol|pre|article|main|"
    rb"section|br|b|i|font|center|frameset|form|img|style|base|nav|header)[\s/>]",
    re.IGNORECASE,
)
_WHOLE_PAGE = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*>\s*)?<(?:!doctype\s+html|html[\s>])", re.IGNORECASE
)
_HTML_ROOT = re.compile(rb"<html[\s>]", re.IGNORECASE)
_NO_PROSE = frozenset(
    {"text/css", "text/javascript", "application/javascript", "application/json", "text/csv"}
)
_WIDE_MARKS = (b"\xff\xfe", b"\xfe\xff")
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_NEAR = 1_024


def is_prose(head: bytes, content_type: str) -> bool:
    """Whether a document is text that people read, and not a picture, a script or data."""
    media = media_type(content_type)
    if media in _NO_PROSE or (media in XML_TYPES and not _HTML_ROOT.search(head)):
        return False
    wide = head.startswith(_WIDE_MARKS) or "utf-16" in content_type
    return b"\0" not in head[:_NEAR] or wide or _MARKUP.search(head) is not None


def has_markup(head: bytes) -> bool:
    """Whether tags of HTML stand in the first bytes."""
    return _MARKUP.search(head.replace(b"\0", b"")) is not None


def is_whole_page(head: bytes) -> bool:
    """Whether a document begins as an HTML page does, whatever it is called."""
    return _WHOLE_PAGE.match(head) is not None


def is_binary(head: bytes) -> bool:
    """Whether control characters stand in the first bytes that no text in an eight-bit code has."""
    return _CONTROL.search(head) is not None and not head.startswith(_WIDE_MARKS)
