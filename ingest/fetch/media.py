"""Which bodies are documents, and how much one host may cost: sizes in bytes, times in seconds.

Source of the limits: crawl rules, section 2 (measured against decompression bombs and slow drips).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from schemas.errors import UnsupportedMedia
from schemas.formats import DocumentFormat, SizeClass, document_name, find_format, media_type, one_type
from schemas.source import SizeLimits

_KIB = 1024
_MB = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class BodyLimit:
    """What one body may cost: decoded size, and time from the first packet to the last.

    `cut`: keep what fits and stop reading; otherwise a larger body is refused. `key` of a source file sets
    the size.
    """

    max_bytes: int
    seconds: float
    cut: bool = False
    key: str | None = None

    @property
    def cap(self) -> str:
        """The cap in words."""
        return cap_in_words(self.max_bytes, self.key)


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchLimits:
    """Caps of a session; the defaults are the rules'."""

    connect: float = 10.0
    read: float = 20.0
    html: BodyLimit = BodyLimit(max_bytes=5 * _MB, seconds=60.0, key="limits.page_mb")
    pdf: BodyLimit = BodyLimit(max_bytes=64 * _MB, seconds=300.0, key="limits.pdf_mb")
    file: BodyLimit = BodyLimit(max_bytes=64 * _MB, seconds=300.0, key="limits.file_mb")
    sitemap: BodyLimit = BodyLimit(max_bytes=50 * _MB, seconds=60.0)
    robots: BodyLimit = BodyLimit(max_bytes=500 * _KIB, seconds=60.0, cut=True)
    header_bytes: int = 64 * _KIB
    tries: int = 4
    backoff: float = 1.0
    robots_redirects: int = 5
    sitemap_urls: int = 50_000
    sitemap_files: int = 500
    sitemap_depth: int = 3

    @property
    def largest(self) -> BodyLimit:
        """The cap of what may be of any size."""
        return max((self.html, self.pdf, self.file), key=lambda limit: limit.max_bytes)

    def of(self, size: SizeClass) -> BodyLimit:
        """The cap of a document of that size."""
        return {SizeClass.PAGE: self.html, SizeClass.PDF: self.pdf, SizeClass.FILE: self.file}[size]


def cap_in_words(max_bytes: int, key: str | None) -> str:
    """Format a cap, with the key of a source file that moves it."""
    return f"the cap of {max_bytes} bytes" + (f" ({key} in the source file)" if key else "")


def limits_of(sizes: SizeLimits) -> FetchLimits:
    """The usual caps, with the sizes that a source names."""
    usual = FetchLimits()
    page, pdf, file = ((size or 0) * _MB for size in (sizes.page_mb, sizes.pdf_mb, sizes.file_mb))
    return replace(
        usual,
        html=replace(usual.html, max_bytes=page or usual.html.max_bytes),
        pdf=replace(usual.pdf, max_bytes=pdf or usual.pdf.max_bytes),
        file=replace(usual.file, max_bytes=file or usual.file.max_bytes),
    )


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
    media, name = media_type(content_type), document_name(None, url)
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
