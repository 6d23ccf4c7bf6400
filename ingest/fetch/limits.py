"""How much one host may cost us; sizes in bytes, times in seconds.

Source: crawl rules, section 2 (measured against decompression bombs and slow drips).
"""

from dataclasses import dataclass

_KIB = 1024
_MB = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class BodyLimit:
    """What one body may cost: decoded size, and time from the first packet to the last.

    `cut`: keep what fits and stop reading; otherwise a larger body is refused.
    """

    max_bytes: int
    seconds: float
    cut: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Caps of a session; the defaults are the rules'."""

    connect: float = 10.0
    read: float = 20.0
    html: BodyLimit = BodyLimit(max_bytes=5 * _MB, seconds=60.0)
    pdf: BodyLimit = BodyLimit(max_bytes=64 * _MB, seconds=300.0)
    sitemap: BodyLimit = BodyLimit(max_bytes=50 * _MB, seconds=60.0)
    robots: BodyLimit = BodyLimit(max_bytes=500 * _KIB, seconds=60.0, cut=True)
    header_bytes: int = 64 * _KIB
    tries: int = 4
    backoff: float = 1.0
    robots_redirects: int = 5
    sitemap_urls: int = 50_000
    sitemap_files: int = 500
    sitemap_depth: int = 3
