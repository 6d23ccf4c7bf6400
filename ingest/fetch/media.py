"""Which bodies are documents: first by what the server calls them, then by their bytes."""

import re

from ingest.fetch.limits import BodyLimit, FetchLimits
from schemas.errors import UnsupportedMedia

HEAD_BYTES = 1024
"""How much of a body is looked at; `%PDF-` may stand anywhere in it (ISO 32000-1, annex H, note 13)."""

_HTML = frozenset({"text/html", "application/xhtml+xml"})
_TEXT = _HTML | {"text/markdown", "text/x-markdown", "text/plain"}
_XML = frozenset({"text/xml", "application/xml"})
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
_PDF = frozenset({"application/pdf", "application/x-pdf"})
_HTML_ROOT = re.compile(rb"<html[\s>]", re.IGNORECASE)
_UTF16_32 = (b"\xff\xfe", b"\xfe\xff", b"\0\0\xfe\xff")
_BINARY = (b"\x89PNG", b"GIF8", b"\xff\xd8\xff", b"PK\x03\x04", b"\x1f\x8b", b"RIFF", b"\x7fELF", b"OggS")


def judge_document(content_type: str | None, head: bytes, limits: FetchLimits) -> BodyLimit:
    """Return the cap of a document's body; call it before the body, and again with its first bytes.

    *head* empty: only the name counts. Raises: UnsupportedMedia.
    """
    name = (content_type or "").partition(";")[0].strip().lower()
    if name not in _TEXT and name not in _PDF and name not in _VAGUE and name not in _XML:
        raise UnsupportedMedia(f"unsupported type {name[:80]!r}")
    if not head:
        return limits.html if name in _TEXT or name in _XML else limits.pdf
    if b"%PDF-" in head:
        return limits.pdf
    if not _is_text(head) or (name in _XML and not _HTML_ROOT.search(head)):
        raise UnsupportedMedia(f"unsupported type: named {name[:80]!r}, but its bytes are no document")
    return limits.html


def _is_text(head: bytes) -> bool:
    if head.startswith(_BINARY):
        return False
    return b"\0" not in head or head.startswith(_UTF16_32)


def is_whole_document(body: bytes) -> bool:
    """Whether the bytes themselves show their end, where the connection's end proves nothing."""
    tail = body[-HEAD_BYTES:]
    return b"%%EOF" in tail if b"%PDF-" in body[:HEAD_BYTES] else b"</html>" in tail.lower()


def is_page(content_type: str | None, body: bytes) -> bool:
    """Whether a body that was taken as a document is one whose scripts a browser would run."""
    name = (content_type or "").partition(";")[0].strip().lower()
    if b"%PDF-" in body[:HEAD_BYTES]:
        return False
    return name in _HTML or (name in _VAGUE and _HTML_ROOT.search(body[:HEAD_BYTES]) is not None)
