"""Which bodies are documents: first by what the server calls them, then by their bytes."""

import re
from collections.abc import Sequence

from ingest.fetch.limits import BodyLimit, FetchLimits
from schemas.errors import UnsupportedMedia
from schemas.formats import DocumentFormat, find_format, media_type, name_of, one_type

HEAD_BYTES = 1024
"""How much of a body is looked at; `%PDF-` may stand anywhere in it (ISO 32000-1, annex H, note 13)."""

_HTML = frozenset({"text/html", "application/xhtml+xml"})
# Names that servers give to anything they know no better one for.
_VAGUE = frozenset(
    {
        "",
        "application/octet-stream",
        "binary/octet-stream",
        "application/download",
        "application/force-download",
        "application/x-download",
        "unknown/unknown",
        "application/unknown",
    }
)
_HTML_ROOT = re.compile(rb"<html[\s>]", re.IGNORECASE)
_UTF16_32 = (b"\xff\xfe", b"\xfe\xff", b"\0\0\xfe\xff")
_BINARY = (b"\x89PNG", b"GIF8", b"\xff\xd8\xff", b"PK\x03\x04", b"\x1f\x8b", b"RIFF", b"\x7fELF", b"OggS")


def judge_document(
    content_type: str | None, head: bytes, *, url: str, formats: Sequence[DocumentFormat], limits: FetchLimits
) -> BodyLimit:
    """Return the cap of a document's body; call it before the body, and again with its first bytes.

    *head* empty: only the type and the *url* count. Raises: UnsupportedMedia.
    """
    media, name = media_type(content_type), name_of(None, url)
    if not head:
        return _largest(media, name, formats, limits)
    found = find_format(formats, head, content_type=content_type, name=name)
    if found is None or (found.is_text and not _is_text(head)):
        raise UnsupportedMedia(f"unsupported type: named {media[:80]!r}, but its bytes are no document")
    return limits.of(found.size)


def with_one_type(headers: dict[str, str]) -> dict[str, str]:
    """Return headers of which the type of the body is one, where a server named several."""
    named = headers.get("content-type")
    return headers if named is None else {**headers, "content-type": one_type(named)}


def _largest(media: str, name: str, formats: Sequence[DocumentFormat], limits: FetchLimits) -> BodyLimit:
    possible = {one.size for one in formats if media in _VAGUE or one.may_be(media, name)}
    if not possible:
        raise UnsupportedMedia(f"unsupported type {media[:80]!r}")
    return max((limits.of(size) for size in sorted(possible)), key=lambda limit: limit.max_bytes)


def _is_text(head: bytes) -> bool:
    if head.startswith(_BINARY):
        return False
    return b"\0" not in head or head.startswith(_UTF16_32)


def is_whole_document(body: bytes, formats: Sequence[DocumentFormat]) -> bool:
    """Whether the bytes themselves show their end, where the connection's end proves nothing."""
    found = find_format(formats, body[:HEAD_BYTES], content_type=None, name="")
    end = found.end if found is not None and found.end is not None else b"</html>"
    return end.lower() in body[-HEAD_BYTES:].lower()


def is_page(content_type: str | None, body: bytes) -> bool:
    """Whether a body that was taken as a document is one whose scripts a browser would run."""
    name = (content_type or "").partition(";")[0].strip().lower()
    if b"%PDF-" in body[:HEAD_BYTES] or not _is_text(body[:HEAD_BYTES]):
        return False
    return name in _HTML or (name in _VAGUE and _HTML_ROOT.search(body[:HEAD_BYTES]) is not None)
