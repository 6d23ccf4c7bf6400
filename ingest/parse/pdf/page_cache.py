"""What was read of each page of a PDF, kept so that an equal page of its next version need not be read."""

import json
import struct
import zlib
from dataclasses import replace

from ingest.parse.pdf.page import PageContent
from schemas.records import from_record, to_record
from schemas.report import PageCounts

MAX_BYTES = 32 * 1024 * 1024
"""Packed pages of one document, about 2 KB each; those beyond are read every time."""

_FRAME = struct.Struct(">16sI")
"""Digest of a page and length of its packed content, which follows."""


class PageCache:
    """The pages of a document's *earlier* version by digest, and those of the version that is being parsed.

    Both are bytes of `dump`. `made_by` names what else reads pages. Pages that are taken over are handed on
    as they are packed.
    """

    def __init__(self, earlier: bytes = b"", *, made_by: str = "") -> None:
        self.made_by = made_by
        self._earlier = _unpack(earlier)
        self._kept: dict[bytes, bytes] = {}
        self._size = 0
        self.counts = PageCounts()

    def find(self, digest: bytes) -> PageContent | None:
        """Return what an equal page was read as, but for its number, its label and its links."""
        packed = self._earlier.get(digest)
        return None if packed is None else from_record(PageContent, json.loads(zlib.decompress(packed)))

    def reuse(self, digest: bytes) -> None:
        """Keep a page that was found, and count it."""
        self.counts += PageCounts(reused=1)
        self._keep(digest, self._earlier[digest])

    def add(self, digest: bytes | None, page: PageContent) -> None:
        """Count a page that was read, and keep it under its digest, if it has one."""
        self.counts += PageCounts(read=1, recognised=int(page.recognised))
        if digest is not None:
            plain = replace(page, page_no=0, label=None, links=())
            self._keep(digest, zlib.compress(json.dumps(to_record(plain), separators=(",", ":")).encode(), 1))

    def keep_none(self) -> None:
        """Keep no page, neither of those so far nor of those to come."""
        self._kept = {}
        self._size = MAX_BYTES

    def forget(self) -> None:
        """Know no page either, and begin to count again."""
        self.keep_none()
        self._earlier, self.counts = {}, PageCounts()

    def dump(self) -> bytes:
        """Return the pages that are kept, in the order of the document."""
        return b"".join(_FRAME.pack(digest, len(packed)) + packed for digest, packed in self._kept.items())

    def _keep(self, digest: bytes, packed: bytes) -> None:
        if digest not in self._kept and self._size + len(packed) <= MAX_BYTES:
            self._kept[digest] = packed
            self._size += len(packed)


def _unpack(data: bytes) -> dict[bytes, bytes]:
    pages: dict[bytes, bytes] = {}
    at = 0
    while at < len(data):
        digest, size = _FRAME.unpack_from(data, at)
        at += _FRAME.size + size
        pages[digest] = data[at - size : at]
    return pages
