"""Object storage: paths of universal_pathlib over fsspec, with our errors, retries and conditional puts."""

import tempfile
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import IO, Any, Self
from urllib.parse import urlsplit

from upath import UPath
from upath.extensions import ProxyUPath

from schemas.errors import (
    BUCKET_NAME,
    WHAT_TO_DO,
    ConfigError,
    NoRoom,
    StoreUnavailable,
    what_to_check,
    why_no_room,
)
from schemas.settings import RAW_URL, install_line

SCHEMES = ("s3", "gs", "gcs", "az", "abfs")
"""Of fsspec and LanceDB both; only S3 has been tested."""

_CHANGED = (409, 412)
"""S3 answers 409 where two conditional puts meet, 412 where the condition does not hold."""
_BEYOND, _FULL = 416, 507

_ATTEMPTS = 2
"""Of botocore, which repeats what a server answers with 500 or 503, and as many of s3fs around it, which
reads anew where a body broke off: each alone leaves out what the other does."""

_PART, _AT_ONCE = 8 << 20, 4
"""Bytes of a request, and requests of one upload side by side. By default s3fs puts what is below 100 MB by
one request, which a slow server does not answer in time."""

_Proxy: Any = ProxyUPath  # its signatures are wider than what an index needs


class BucketPath(_Proxy):  # type: ignore[misc]
    """A path in a bucket.

    Raises, from each: FileNotFoundError; StoreUnavailable: the server fails it, or refuses; NoRoom.
    """

    __slots__ = ()

    def read_bytes(self) -> bytes:
        """Read the object by one request."""
        with self._telling():
            data: bytes = self.fs.cat_file(self.path)
        return data

    def read_text(self, encoding: str | None = "utf-8", errors: str = "strict") -> str:
        """Read the object as text."""
        return self.read_bytes().decode(encoding or "utf-8", errors)

    def put(self, data: bytes) -> None:
        """Put the object, whole or not at all."""
        self._put_whole(lambda: self.fs.pipe_file(self.path, data, **self._parts))

    def etag(self) -> str | None:
        """Return what names the content of the object; None: there is none."""
        with self._telling():
            try:
                info = self.fs.info(self.path)
            except FileNotFoundError as error:
                if _lacks_bucket(error):
                    raise
                return None
        tag = info.get("ETag") or info.get("etag")
        return str(tag) if tag else None

    def put_if(self, data: bytes, *, etag: str | None) -> bool:
        """Put the object if its content is still the one *etag* names, None for no object; whether it is put.

        A put whose answer was lost is repeated by the driver and then refused, or seems to have failed. So
        whatever it ends with, it counts where the object is what was to be put.
        """
        condition = {"IfMatch": etag} if etag else {"IfNoneMatch": "*"}
        with self._telling():
            try:
                self.fs.pipe_file(self.path, data, **condition)
            except Exception as error:
                is_refused = _status_of(error) in _CHANGED or isinstance(error, FileExistsError)
                if self._is(data):
                    return True
                if not is_refused:
                    raise
                return False
        return True

    def _is(self, data: bytes) -> bool:
        """Whether the object is known to be *data*."""
        with suppress(FileNotFoundError, StoreUnavailable):
            return self.read_bytes() == data
        return False

    @property
    def patience(self) -> int:
        """Seconds that a request may take, repetitions included; for other drivers of the same bucket."""
        return int(self.fs.patience)

    def sizes(self) -> dict[str, int]:
        """Return the size of every object under the path, by what follows it."""
        with self._telling():
            found = self.fs.find(self.path, detail=True)
        start = len(self.path.strip("/")) + 1
        return {name.lstrip("/")[start:]: int(info["size"]) for name, info in found.items()}

    def upload(self, file: Path) -> None:
        """Put a local file, in parts where it is large."""
        self._put_whole(lambda: self.fs.put_file(str(file), self.path, **self._parts))

    @property
    def _parts(self) -> dict[str, int]:
        """Options by which S3 is sent what is large in parts."""
        return {"chunksize": _PART} if "s3" in self.fs.protocol else {}

    def _put_whole(self, put: Callable[[], object]) -> None:
        """Call *put*, which puts an object by one request or in parts; once more where the parts are gone.

        They are when the upload was completed and the answer that says so was lost: the driver repeats the
        request, and raises FileNotFoundError.
        """
        with self._telling():
            try:
                put()
            except FileNotFoundError as error:
                if _lacks_bucket(error):
                    raise
                put()

    def read_part(self, start: int) -> tuple[bytes, bool]:
        """Read some megabytes from byte *start* on by one request; whether they are the last."""
        with self._telling():
            try:
                data: bytes = self.fs.cat_file(self.path, start=start, end=start + _PART)
            except Exception as error:
                if _status_of(error) != _BEYOND:
                    raise
                return b"", True
        return data, len(data) < _PART

    def download(self, file: Path) -> None:
        """Write the object into a local file."""
        with self._telling():
            self.fs.get_file(self.path, str(file))

    @contextmanager
    def open(self, mode: str = "r", **options: Any) -> Iterator[IO[Any]]:
        """Open a local copy of the object for reading; it is gone with the block."""
        if mode not in ("r", "rb"):
            raise ValueError("an object is put whole: use write_durably")
        with tempfile.NamedTemporaryFile(prefix="sitegraph-") as copy:
            self.download(Path(copy.name))
            with Path(copy.name).open(mode, **options) as file:
                yield file

    def unlink(self, missing_ok: bool = False) -> None:  # noqa: ARG002 - S3 does not tell
        """Delete the object."""
        with self._telling():
            try:
                self.fs.rm_file(self.path)
            except FileNotFoundError as error:
                if _lacks_bucket(error):
                    raise

    def remove_files(self, names: Collection[str]) -> None:
        """Delete the objects of these names under the path, by as few requests as there may be."""
        if names:
            with self._telling():
                self.fs.rm([f"{self.path}/{name}" for name in names])

    def resolve(self) -> Self:
        """Return the path: there are no links."""
        return self

    def exists(self) -> bool:
        """Whether there is an object, or anything under the path."""
        return self._kind() is not None

    def is_dir(self) -> bool:
        """Whether there is anything under the path."""
        return self._kind() == "directory"

    def is_file(self) -> bool:
        """Whether there is an object."""
        return self._kind() == "file"

    def _kind(self) -> str | None:
        """Return what is there; fsspec's own tests take every failure of the server for nothing."""
        with self._telling():
            try:
                return str(self.fs.info(self.path)["type"])
            except FileNotFoundError as error:
                if _lacks_bucket(error):
                    raise
                return None

    def stat(self) -> Any:
        """Size and time of the object, as `os.stat` has them."""
        with self._telling():
            return super().stat()

    def glob(self, pattern: str) -> Iterator[Self]:
        """Objects that match, listed at once."""
        with self._telling():
            return iter(tuple(super().glob(pattern)))

    def rglob(self, pattern: str) -> Iterator[Self]:
        """Objects at any depth that match, listed at once."""
        with self._telling():
            return iter(tuple(super().rglob(pattern)))

    def iterdir(self) -> Iterator[Self]:
        """What is directly under the path; nothing where nothing is."""
        if not self.is_dir():
            return iter(())
        with self._telling():
            return iter(tuple(super().iterdir()))

    @contextmanager
    def _telling(self) -> Iterator[None]:
        """Turn errors into StoreUnavailable and NoRoom; that an object is not there passes."""
        expected: tuple[type[Exception], ...] = (OSError, *_driver_failures())
        try:
            yield
        except FileNotFoundError as error:
            if _lacks_bucket(error):
                raise self._unavailable(error) from error
            raise
        except expected as error:
            if (full := why_no_room(error)) or _status_of(error) == _FULL:
                raise NoRoom(f"{full or 'the bucket is full'}. {WHAT_TO_DO}", subject=str(self)) from error
            raise self._unavailable(error) from error

    def _unavailable(self, error: Exception) -> StoreUnavailable:
        told = f"{error or type(error).__name__}; {what_to_check(self.fs.to_check)}"
        return StoreUnavailable(told, subject=str(self))


@cache
def _driver_failures() -> tuple[type[Exception], ...]:
    """What the driver of S3 raises besides OSError when the server fails it."""
    try:
        from aiohttp import ClientError
        from botocore.exceptions import BotoCoreError
    except ImportError:
        return ()
    return (BotoCoreError, ClientError)


def _status_of(error: BaseException) -> int | None:
    """Return the HTTP status that a server of S3 answered with; None where it is not told."""
    response = getattr(error, "response", None) or getattr(error.__cause__, "response", None) or {}
    status: int | None = response.get("ResponseMetadata", {}).get("HTTPStatusCode")
    return status


def _lacks_bucket(error: FileNotFoundError) -> bool:
    """Whether it is the bucket that is not there: that says nothing of what was kept."""
    response = getattr(error.__cause__, "response", {})
    return bool(response.get("Error", {}).get("Code") == "NoSuchBucket")


def open_prefix(
    url: str, *, patience: int, subject: str = "--index", to_check: str = BUCKET_NAME
) -> BucketPath:
    """Return the bucket, or the prefix of one, that *url* names; its server is asked at the first use.

    No listings are kept. By default s3fs repeats five times what botocore has repeated five times.

    Args: patience: seconds that a request may take, repetitions included; of S3 alone, the other drivers have
    limits of their own. to_check: what people may look at first where a request fails.
    Raises: ConfigError: the driver is missing.
    """
    options: dict[str, Any] = {"skip_instance_cache": True, "use_listings_cache": False}
    if urlsplit(url).scheme == "s3":
        options["max_concurrency"] = _AT_ONCE
        options["config_kwargs"] = {
            "connect_timeout": min(5, patience),
            "read_timeout": patience / _ATTEMPTS**2,
            "retries": {"mode": "standard", "total_max_attempts": _ATTEMPTS},
        }
    try:
        prefix = UPath(url.rstrip("/"), **options)
        files = prefix.fs  # every path below it takes this one over
    except ImportError as error:
        raise ConfigError(
            f"is in object storage, whose driver is not installed ({error.name}); run: {install_line('s3')}",
            subject=subject,
        ) from error
    files.retries, files.patience, files.to_check = _ATTEMPTS, patience, to_check
    made: BucketPath = BucketPath._from_upath(prefix)
    return made


def check_url(url: str, *, subject: str) -> None:
    """Raise ConfigError where *url* is not bucket and prefix alone; credentials have no place in it."""
    parts, is_raw = urlsplit(url), subject == RAW_URL
    schemes, is_prefix = (("s3",), True) if is_raw else (SCHEMES, bool(parts.path.strip("/")))
    more = parts.query or parts.fragment or "@" in url or ":" in parts.netloc
    if parts.scheme not in schemes or more or not (parts.netloc and is_prefix):
        form = (
            "not s3://BUCKET or s3://BUCKET/PREFIX" if is_raw else "neither a folder nor s3://BUCKET/PREFIX"
        )
        raise ConfigError(
            f"is {form}; server and credentials are for the environment "
            "(AWS_ENDPOINT_URL, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_PROFILE)",
            subject=subject,
        )
