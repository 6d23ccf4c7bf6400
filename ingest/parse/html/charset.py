"""Bytes of a web page > text; hostile markup is cut down first."""

import re
from collections.abc import Callable
from functools import lru_cache
from itertools import islice

from w3lib.encoding import html_to_unicode, resolve_encoding

_UNREAD, _FEW = "\ufffd", 4
"""Sign of what does not fit; a few of them are damage, not another encoding."""

_WIDE = ("utf-16", "utf-32")
_WORD = re.compile(r"[a-zA-Z]?[^\x00-\x7f\s](?:[a-zA-Z]|[^\x00-\x7f\s])*+")
_ODD = re.compile(
    r"[\u00c0-\u00ff]{3}|[\u0080-\u00ff\u0152-\u02dc\u2010-\u203a]{4}"  # longer than Western Europe needs
    r"|[a-zA-Z][\u0370-\u06ff]|[\u0370-\u06ff][a-zA-Z]"  # in two alphabets
    r"|[\u0370-\u04ff](?<=[^\W\d_])[\u0391-\u03a9\u0410-\u042f]"  # a capital behind a letter
    r"|[^\W\d_][\u0080-\u009f\u2500-\u259f]"  # ruled off
)
"""What no language writes in a word: signs of another encoding."""

_WORDS = 2_000
"""Words that are looked at for being of a language."""


def decode_html(data: bytes, content_type: str | None) -> str:
    """Decode by byte-order mark, then header, then meta element, then a guess from all the bytes.

    What does not fit the encoding becomes U+FFFD. Where that is most of what is not ASCII, where the bytes
    are UTF-8, or where most of the words are of no language, the encoding was stated wrongly and is guessed.
    NUL, which would end libxml2's input, is left out.
    Source: WHATWG Encoding and HTML, "determining the character encoding".
    """
    return _read(data, content_type)[1].replace("\0", "")


@lru_cache(maxsize=1)  # parser, account and rules of access read the same bytes one after the other
def _read(data: bytes, content_type: str | None) -> tuple[str, str]:
    """Return the encoding that fits, and the text."""
    stated, text = html_to_unicode(
        content_type, data, auto_detect_fun=_detect_charset, default_encoding="cp1252"
    )
    stated = stated.lower()
    is_wide = stated.startswith(_WIDE)
    if data.isascii() and not is_wide:
        return stated, text
    found = _detect_charset(data) if _is_doubtful(data, stated, text) else stated
    if found == stated:
        return stated, text
    read = data.decode(found, "replace")
    is_better = is_wide or found == "utf-8" or _misread(read) < _misread(text)
    return (found, read) if is_better else (stated, text)


def _is_doubtful(data: bytes, stated: str, text: str) -> bool:
    if stated.startswith(_WIDE):  # who reads this in a header or a meta element of one byte a character, errs
        return b"\0" not in data
    unread = text.count(_UNREAD)
    if unread >= _FEW and 2 * unread > len(text) - _ascii(data):
        return True
    return stated != "utf-8" and (_is_utf8(data, at_least=2) or _odd_share(text) > 0.5)


def _misread(text: str) -> float:
    """The part of a text, by its words, that cannot be meant."""
    return text.count(_UNREAD) / max(1, len(text)) + _odd_share(text)


def _odd_share(text: str) -> float:
    """The part of the words with other letters than ASCII that are of no language; 0 of a few words."""
    words = [match[0] for match in islice(_WORD.finditer(text), _WORDS)]
    odd = sum(_ODD.search(word) is not None for word in words)
    return odd / len(words) if odd >= _FEW else 0.0


def query_encoder(data: bytes, content_type: str | None) -> Callable[[str], str]:
    """Return what percent-encodes the query of a link as browsers do: in the encoding of the page it is on.

    A character that the encoding lacks becomes its number, `&#8364;`; UTF-16 pages ask in UTF-8.
    Source: WHATWG URL, 4.4 (query state) and "percent-encode after encoding".
    """

    @lru_cache(maxsize=1)  # most pages have no such query, and are not looked at again
    def encoding() -> str:
        name, _ = _read(data, content_type)
        return "utf-8" if name.startswith("utf") else name

    def encode(query: str) -> str:
        return "".join(char if char.isascii() else _escaped(char, encoding()) for char in query)

    return encode


def _escaped(char: str, encoding: str) -> str:
    try:
        return "".join(f"%{byte:02X}" for byte in char.encode(encoding))
    except UnicodeEncodeError:
        return f"%26%23{ord(char)}%3B" if encoding != "utf-8" else "%EF%BF%BD"


def _ascii(data: bytes) -> int:
    return len(data.translate(None, delete=bytes(range(0x80, 0x100))))


def _is_utf8(data: bytes, *, at_least: int = 0) -> bool:
    """Whether the bytes are UTF-8 but for a few: what is no UTF-8 seldom has a character that could be."""
    text = data.decode("utf-8", "replace")
    unread = text.count(_UNREAD)
    read = len(text) - unread - _ascii(data)
    return read >= max(at_least, _FEW * unread if at_least else unread)


def _detect_charset(data: bytes) -> str:
    if _is_utf8(data):
        return "utf-8"
    from chardetng_py import EncodingDetector

    detector = EncodingDetector()
    detector.feed(data, last=True)
    return resolve_encoding(detector.guess(tld=None, allow_utf8=False)) or "cp1252"


MAX_TAGS = 200_000
MAX_ATTRIBUTES = 1_000
"""Above these libxml2 needs more than 12 s (one tag of 100,000 attributes); no manual page comes near."""

# Possessive throughout: nothing is ever scanned twice, but for one unclosed quote of each kind.
_ATTRIBUTE = rb"""[\s/]*+[^\s/>=]++(?:\s*+=\s*+(?:"[^"]*+"|'[^']*+'|[^\s>]*+))?+"""
_BEGUN = rb"<[A-Za-z][^\s/>]*+(?:%s){0,%d}+[\s/]*+" % (_ATTRIBUTE, MAX_ATTRIBUTES)
_TAG = re.compile(rb"%s>?" % _BEGUN)
_WHOLE = re.compile(rb"(?:[^<]++|<(?![A-Za-z])|%s>)*+" % _BEGUN)
_REST = re.compile(rb"(?:%s|=)*+[\s/]*+" % _ATTRIBUTE)


def cut_markup(data: bytes) -> tuple[bytes, bool]:
    """Return the bytes with at most MAX_TAGS tags of at most MAX_ATTRIBUTES attributes, and whether any went.

    Tags after the limit go with all that follows them; attributes after the limit go alone.
    """
    if data.count(b"<") <= MAX_TAGS and _WHOLE.fullmatch(data):
        return data, False  # most pages are written so, and all of one is looked at in one search
    kept: list[bytes] = []
    start = 0
    for number, tag in enumerate(_TAG.finditer(data)):
        if number == MAX_TAGS:
            return b"".join((*kept, data[start : tag.start()])), True
        if not tag.group().endswith(b">") and tag.end() < len(data):
            rest = _REST.match(data, tag.end())
            if rest is not None and rest.end() > tag.end():
                kept.append(data[start : tag.end()])
                start = rest.end()
    return b"".join((*kept, data[start:])), bool(kept)
