"""How much one host may cost us; sizes in bytes, times in seconds.

Source: crawl rules, section 2 (measured against decompression bombs and slow drips).
"""

from dataclasses import dataclass, replace

from schemas.formats import SizeClass
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
