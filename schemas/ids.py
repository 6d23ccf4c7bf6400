"""Ids and hashes of content. The rules stand in docs/rules/ids.md; a changed id is a breaking change."""

import hashlib
import json
import unicodedata
from collections import Counter
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Final

_SEPARATOR = "\x1f"
_DIGITS = "abcdefghijklmnopqrstuvwxyz234567"
_PAIRS = tuple(first + second for first in _DIGITS for second in _DIGITS)
_PLACES = range(120, -1, -10)
"""Two digits of base 32 (RFC 4648, in small letters) are 10 bits; b32encode takes twice as long."""


def make_id(kind: str, *key: str | int) -> str:
    """Return the id `kind:<26 base32 characters>` of a natural key.

    128 bits of BLAKE2b over the key parts; never over an embedding, a list position or a clock.
    """
    natural_key = _SEPARATOR.join(map(str, (kind, *key)))
    digest = hashlib.blake2b(natural_key.encode(), digest_size=16).digest()
    number = int.from_bytes(digest) << 2
    return f"{kind}:{''.join([_PAIRS[number >> place & 1023] for place in _PLACES])}"


@lru_cache(maxsize=1)  # of each chunk it is asked twice in a row
def normalise_text(text: str) -> str:
    """Fold what a reader does not see (Unicode form, runs of white space) before hashing."""
    return " ".join(unicodedata.normalize("NFC", text).split())


class Occurrences:
    """Number equal keys in reading order, so that repeated content gets distinct ids."""

    def __init__(self) -> None:
        self._seen: Counter[tuple[str, ...]] = Counter()

    def number(self, *key: str) -> int:
        """Return 0 for the first occurrence of *key*, 1 for the second, and so on."""
        occurrence = self._seen[key]
        self._seen[key] += 1
        return occurrence


def page_id(uri: str) -> str:
    """Id of an HTML or Markdown document; *uri* is its canonical URL or `files://source/path`."""
    return make_id("page", uri)


def part_page_id(doc: str, name: str) -> str:
    """Id of a page that is part of a document: a chapter of a book, by its path in the archive."""
    return make_id("page", doc, name)


def pdf_doc_id(uri: str) -> str:
    """Id of a PDF document."""
    return make_id("pdfdoc", uri)


def section_id(doc: str, heading_path: tuple[str, ...], occurrence: int) -> str:
    """Id of a section: its document, headings from the top, and which of equals it is."""
    return make_id("section", doc, *heading_path, occurrence)


def pdf_page_id(doc: str, page_no: int) -> str:
    """Id of a PDF page; *page_no* counts from 1."""
    return make_id("pdfpage", doc, page_no)


def pdf_region_id(doc: str, region_type: str, text: str, occurrence: int) -> str:
    """Id of a region by content, not by page, so that an inserted page moves no id."""
    return make_id("pdfregion", doc, region_type, normalise_text(text), occurrence)


def chunk_id(doc: str, heading_path: tuple[str, ...], text: str, occurrence: int) -> str:
    """Id of a chunk: its document, headings and normalised text, and which of equals it is."""
    return make_id("chunk", doc, *heading_path, normalise_text(text), occurrence)


def tools_doc_id(uri: str) -> str:
    """Id of a file that describes tools; *uri* is `tools://source/path`."""
    return make_id("tools", uri)


def tool_id(doc: str, tool_type: str, name: str) -> str:
    """Id of a tool: the file that describes it, what it is there, and its name."""
    return make_id("tool", doc, tool_type, name)


def entity_id(name: str, disambiguation: str = "") -> str:
    """Id of an entity: its name as written, and what tells it from others of that name."""
    return make_id("entity", normalise_text(name), normalise_text(disambiguation))


def edge_id(kind: str, src: str, dst: str, *qualifier: str) -> str:
    """Id of an edge; the qualifier tells parallel edges apart (anchor text, position, predicate ...)."""
    return make_id("edge", kind, src, dst, *qualifier)


def sha256_hex(data: bytes | str) -> str:
    """Hash bytes, or text as UTF-8."""
    return hashlib.sha256(data.encode() if isinstance(data, str) else data).hexdigest()


def canonical_json(value: Any) -> str:
    """Serialise with sorted keys and no spaces, so that equal values give equal bytes."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def record_sha256(record: Any) -> str:
    """Hash a JSON-ready record by its canonical form."""
    return sha256_hex(canonical_json(record))


LATER: Final = MappingProxyType({"later": True})
"""Metadata of such a field: records leave it out where it has its default, so those rows keep their hash."""
