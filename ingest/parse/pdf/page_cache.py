"""What was read of each page, kept under a digest of its drawing, so no equal page is read again."""

import json
import re
import struct
import zlib
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any

from ingest.parse.pdf.opening import load_pymupdf, pdf_errors, raise_if_exhausted
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


MAX_OBJECTS = 5_000
"""Objects of the file that a page may be drawn from; looking at more costs what reading the page does."""

_INHERITED = ("Resources", "MediaBox", "CropBox", "Rotate")
"""Attributes that pages take from the nodes above them (ISO 32000-1, 7.7.3.4)."""

_OWN = ("Contents", "Group", "UserUnit", "StructParents")
_OF_THE_DOCUMENT = ("OCProperties", "OutputIntents", "StructTreeRoot/RoleMap")
"""What a page is drawn from, and what of the catalogue says how, layers for one."""

_DEEPEST = 64
"""Nodes above a page; more are a ring."""

_SIZE = 16

_TOKEN = re.compile(
    r"(?P<string>\((?:[^\\()]|\\.)*\))|/(?:Metadata|PieceInfo|Parent) \d+ \d+ R"
    r"|/Length \d+(?: \d+ R)?"
    r"|/StructParents? (?P<tags>\d+)|(?P<xref>\d+) \d+ R",
    re.DOTALL,
)
"""Strings stay, what draws nothing goes, and lengths, which are those of streams that are hashed; numbers of
objects and of tags move when a page is put in.
"""

_TEXT_ELSEWHERE = re.compile(r"/(?:ActualText|Alt|E|T|Lang) \d+ \d+ R")


@dataclass(frozen=True, slots=True)
class _Object:
    """An object of the file without the numbers in it; what it refers to, in order; keys of its tags."""

    digest: bytes
    references: tuple[int, ...]
    tags: tuple[int, ...]


class PageDigests:
    """Digests of the pages of one document under a *context*: whatever else their reading depends on.

    They cover content streams, resources and the boxes of a page by content, whatever numbers its objects
    have, and what its tags say in place of its letters. Not links, which may be looked up again.
    """

    def __init__(self, document: Any, *, context: str) -> None:
        self._document = document
        self._objects: dict[int, _Object] = {}
        self._context = context.encode()
        self._stated: bytes | None = None

    def of(self, index: int) -> bytes | None:
        """Return the digest of page *index* (from 0); None where it cannot be told what the page depends on.

        Such are pages with annotations other than links, and those of broken objects.
        """
        try:
            if self._stated is None:
                self._stated = self._of_the_document()
            page = self._document.page_xref(index)
            self._refuse_annotations(page)
            values = [self._inherited(page, key) for key in _INHERITED]
            values += [self._value(page, key) for key in _OWN]
            return self._walk(_object("\n".join(values), self._stated))
        except pdf_errors() as error:
            raise_if_exhausted(error)
            return None

    def _of_the_document(self) -> bytes:
        catalogue = self._document.pdf_catalog()
        return self._walk(_object("\n".join(self._value(catalogue, key) for key in _OF_THE_DOCUMENT)))

    def _walk(self, root: _Object) -> bytes:
        """Hash all that *root* leads to, breadth first, each object once under the number of its turn."""
        hashed = blake2b(self._context, digest_size=_SIZE)
        turns: dict[int, int] = {}
        waiting = deque([root])
        while waiting:
            one = waiting.popleft()
            hashed.update(one.digest)
            for key in one.tags:
                hashed.update(self._tags(key))
            for xref in one.references:
                if xref not in turns:
                    turns[xref] = len(turns)
                    waiting.append(self._object(xref))
                hashed.update(turns[xref].to_bytes(4, "big"))
            if len(turns) > MAX_OBJECTS:
                raise ValueError("drawn from too many objects")
        return hashed.digest()

    def _object(self, xref: int) -> _Object:
        if xref not in self._objects:
            text = self._text(xref)
            # Layers of one name may differ in whether they show, which the catalogue says by their number.
            layer = f"\n{xref}" if "/OCG" in text or "/OCMD" in text else ""
            stream = self._document.xref_stream_raw(xref) or b""
            self._objects[xref] = _object(text, layer.encode() + b"\0" + stream)
        return self._objects[xref]

    def _text(self, xref: int) -> str:
        return str(self._document.xref_object(xref, compressed=True, ascii=True))

    def _value(self, xref: int, key: str) -> str:
        kind, value = self._document.xref_get_key(xref, key)
        if "\ufffd" in value:
            raise ValueError("a string that does not come out whole")
        return f"/{key} {value}" if kind != "null" else ""

    def _inherited(self, xref: int, key: str) -> str:
        for _ in range(_DEEPEST):
            if value := self._value(xref, key):
                return value
            kind, parent = self._document.xref_get_key(xref, "Parent")
            if kind != "xref":
                return ""
            xref = int(parent.split()[0])
        raise ValueError("page tree without a root")

    def _refuse_annotations(self, page: int) -> None:
        """Notes and form fields are drawn by rules of their own, from all over the file."""
        kind, value = self._document.xref_get_key(page, "Annots")
        if kind == "xref":
            value = self._text(int(value.split()[0]))
        if "<<" in value:
            raise ValueError("annotations in place")
        for found in _TOKEN.finditer(value):
            subtype = self._document.xref_get_key(int(found["xref"]), "Subtype")
            if subtype != ("name", "/Link"):
                raise ValueError("an annotation that is drawn")

    def _tags(self, key: int) -> bytes:
        """What the structure elements of a page say: their texts stand in for its letters."""
        said = "\n".join(self._elements(key))
        if _TEXT_ELSEWHERE.search(said):
            raise ValueError("a tag with its text elsewhere")
        return blake2b(_TOKEN.sub(_without_numbers, said).encode(), digest_size=_SIZE).digest()

    def _elements(self, key: int) -> Iterator[str]:
        mupdf = load_pymupdf().mupdf
        root = mupdf.pdf_dict_getp(mupdf.pdf_trailer(self._pdf()), "Root/StructTreeRoot/ParentTree")
        elements = mupdf.pdf_lookup_number(root, key)
        for at in range(mupdf.pdf_array_len(elements)):
            xref = mupdf.pdf_to_num(mupdf.pdf_array_get(elements, at))
            yield self._text(xref) if xref else "null"

    def _pdf(self) -> Any:
        return load_pymupdf().mupdf.pdf_document_from_fz_document(self._document.this)


def _object(text: str, more: bytes = b"") -> _Object:
    found = list(_TOKEN.finditer(text))
    plain = _TOKEN.sub(_without_numbers, text).encode("utf-8", "surrogatepass")
    return _Object(
        digest=blake2b(plain + more, digest_size=_SIZE).digest(),
        references=tuple(int(one["xref"]) for one in found if one["xref"]),
        tags=tuple(int(one["tags"]) for one in found if one["tags"]),
    )


def _without_numbers(found: re.Match[str]) -> str:
    if found["string"]:
        return found["string"]
    return "R" if found["xref"] else ""
