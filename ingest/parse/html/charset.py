"""Bytes of a web page > text."""

from collections.abc import Callable
from functools import lru_cache

from w3lib.encoding import html_to_unicode

_DETECTED = 16_384
"""Bytes the detector looks at; it is quadratic in what it cannot tell."""

_UNREAD, _FEW = "\ufffd", 4
"""Sign of what does not fit; a few of them are damage, not another encoding."""


def decode_html(data: bytes, content_type: str | None) -> str:
    """Decode by byte-order mark, then header, then meta element, then a guess from the bytes.

    What does not fit the encoding becomes U+FFFD; where that is most of what is not ASCII, the encoding was
    stated wrongly and is guessed too. NUL, which would end libxml2's input, is left out.
    Source: WHATWG Encoding and HTML, "determining the character encoding".
    """
    _, text = html_to_unicode(content_type, data, auto_detect_fun=_detect_charset, default_encoding="cp1252")
    if _is_misread(text):
        text = min(text, data.decode(_detect_charset(data), "replace"), key=lambda read: read.count(_UNREAD))
    return str(text).replace("\0", "")


def query_encoder(data: bytes, content_type: str | None) -> Callable[[str], str]:
    """Return what percent-encodes the query of a link as browsers do: in the encoding of the page it is on.

    A character that the encoding lacks becomes its number, `&#8364;`; UTF-16 pages ask in UTF-8.
    Source: WHATWG URL, 4.4 (query state) and "percent-encode after encoding".
    """

    @lru_cache(maxsize=1)  # most pages have no such query, and are not looked at again
    def encoding() -> str:
        name, _ = html_to_unicode(
            content_type, data, auto_detect_fun=_detect_charset, default_encoding="cp1252"
        )
        return "utf-8" if name.lower().startswith("utf") else str(name)

    def encode(query: str) -> str:
        return "".join(char if char.isascii() else _escaped(char, encoding()) for char in query)

    return encode


def _escaped(char: str, encoding: str) -> str:
    try:
        return "".join(f"%{byte:02X}" for byte in char.encode(encoding))
    except UnicodeEncodeError:
        return f"%26%23{ord(char)}%3B" if encoding != "utf-8" else "%EF%BF%BD"


def _is_misread(text: str) -> bool:
    unread = text.count(_UNREAD)
    return unread >= _FEW and 2 * unread > sum(not char.isascii() for char in text)


def _detect_charset(data: bytes) -> str:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return _guess_charset(data)
    return "utf-8"


def _guess_charset(data: bytes) -> str:
    from charset_normalizer import from_bytes

    best = from_bytes(data[:_DETECTED]).best()
    return "cp1252" if best is None else best.encoding
