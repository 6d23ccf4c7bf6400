"""Results of kinds that send no request of their own, and how large their documents may be."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from ingest.parse.formats.registry import installed_formats
from schemas.dates import Dated
from schemas.errors import Stopped
from schemas.fetch import FetchResult, FetchStatus
from schemas.formats import SizeClass, format_named
from schemas.source import SizeLimits

MAX_FILE_BYTES = 64 * 1024 * 1024

T = TypeVar("T")


def until_stopped(items: Iterable[T], should_stop: Callable[[], bool], *, subject: str) -> Iterator[T]:
    """Yield the items. Raises: Stopped: before the next one, once the run is to end."""
    for item in items:
        if should_stop():
            raise Stopped("stopped; run again to continue", subject=subject)
        yield item


def largest_file(sizes: SizeLimits, path: str) -> tuple[int, str]:
    """Bytes that a file may have, and the key of the source file that says so."""
    found = format_named(installed_formats(), path)
    key = f"{found.size if found else SizeClass.PAGE}_mb"
    named: int | None = getattr(sizes, key)
    return MAX_FILE_BYTES if named is None else named * 1_000_000, f"limits.{key}"


def result_of(
    uri: str,
    status: FetchStatus,
    *,
    body: bytes | None = None,
    etag: str | None = None,
    modified: Dated | None = None,
    reason: str = "",
) -> FetchResult:
    """Return a result that cost no request."""
    return FetchResult(
        url=uri,
        status=status,
        requests=0,
        bytes=len(body or b""),
        statuses=(),
        seconds=0.0,
        body=body,
        etag=etag,
        modified=modified,
        reason=reason,
    )
