"""File systems of object storage, and how long their drivers try."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from indexes.object_errors import lacks_bucket

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

PATIENCE = 60
"""Seconds that a request may take, repetitions included, where no setting says otherwise."""

_ATTEMPTS = 2
"""Of botocore, which repeats what a server answers with 500 or 503, and as many of s3fs around it, which
reads anew where a body broke off: each alone leaves out what the other does."""

_PART, _AT_ONCE = 8 << 20, 4
"""Bytes of a request, and requests of one upload side by side. By default s3fs puts what is below 100 MB by
one request, which a slow server does not answer in time."""


def open_files(scheme: str, *, patience: int) -> tuple["AbstractFileSystem", dict[str, Any]]:
    """Return a file system of fsspec that keeps no listings, and the options it was made with.

    By default s3fs repeats five times what botocore has repeated five times.

    Args: patience: seconds that a request may take, repetitions included; of S3 alone, the other drivers have
    limits of their own.
    Raises: ImportError: the driver is missing.
    """
    import fsspec

    options: dict[str, Any] = {"skip_instance_cache": True, "use_listings_cache": False}
    if scheme == "s3":
        options["max_concurrency"] = _AT_ONCE
        options["config_kwargs"] = {
            "connect_timeout": min(5, patience),
            "read_timeout": patience / _ATTEMPTS**2,
            "retries": {"mode": "standard", "total_max_attempts": _ATTEMPTS},
        }
    files = fsspec.filesystem(scheme, **options)
    files.retries, files.patience = _ATTEMPTS, patience
    return files, options


def put_whole(put: Callable[[], object]) -> None:
    """Call *put*, which puts an object by one request or in parts; once more where the parts are gone.

    They are when the upload was completed and the answer that says so was lost: the driver repeats the
    request, and raises FileNotFoundError.
    """
    try:
        put()
    except FileNotFoundError as error:
        if lacks_bucket(error):
            raise
        put()


def in_parts(files: "AbstractFileSystem") -> dict[str, int]:
    """Options of `put_file` and `pipe_file` by which S3 is sent what is large in parts."""
    return {"chunksize": _PART} if "s3" in files.protocol else {}
