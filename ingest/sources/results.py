"""Results of kinds that send no request of their own, and how large their documents may be."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from mimetypes import guess_type
from pathlib import PurePosixPath
from typing import TypeVar

from ingest.parse.formats.registry import installed_formats
from ingest.plan.scope import is_inside
from ingest.urls import file_url
from schemas.errors import Stopped
from schemas.fetch import FetchResult, FetchStatus
from schemas.formats import SizeClass, format_named
from schemas.nodes import Dated
from schemas.report import Problem
from schemas.source import SizeLimits, Source

_TOLD = 5
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


def passed_over(source: Source, paths: Sequence[str]) -> Iterator[Problem]:
    """Say which files that the scope means are of no format, but for pictures and the like, and indexes."""
    indexes = {PurePosixPath(path).parent for path in paths if PurePosixPath(path).name == "CURRENT"}
    meant = (
        path
        for path in paths
        if indexes.isdisjoint(PurePosixPath(path).parents)
        and is_inside(source, file_url(source.name, path))
        and not _is_part(path)
    )
    endings = Counter(PurePosixPath(path).suffix.lower() or PurePosixPath(path).name for path in meant)
    if endings:
        told = ", ".join(f"{ending} {number}" for ending, number in endings.most_common(_TOLD))
        more = ", …" if len(endings) > _TOLD else ""
        reason = f"left out: {endings.total()} files of no format that is read here ({told}{more})"
        yield Problem(url=file_url(source.name, ""), reason=reason)


def _is_part(path: str) -> bool:
    media = guess_type(path)[0] or ""
    return media.partition("/")[0] in {"image", "audio", "video", "font"} or media.endswith(
        ("css", "javascript")
    )


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
        bytes=len(body or b""),
        body=body,
        etag=etag,
        modified=modified,
        reason=reason,
    )
