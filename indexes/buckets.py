"""Paths of an index in a bucket: universal_pathlib's, over fsspec, with our errors and conditional puts."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, Self
from urllib.parse import urlsplit

from upath import UPath
from upath.extensions import ProxyUPath

from indexes.object_errors import lacks_bucket, status_of, telling
from indexes.object_files import in_parts, open_files, put_whole
from schemas.errors import ConfigError, StoreUnavailable
from schemas.extras import install_line

SCHEMES = ("s3", "gs", "gcs", "az", "abfs")
"""Of fsspec and LanceDB both; only S3 has been tested."""

_CHANGED = (409, 412)
"""S3 answers 409 where two conditional puts meet, 412 where the condition does not hold."""


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
        with self._telling():
            put_whole(lambda: self.fs.pipe_file(self.path, data, **in_parts(self.fs)))

    def etag(self) -> str | None:
        """Return what names the content of the object; None: there is none."""
        with self._telling():
            try:
                info = self.fs.info(self.path)
            except FileNotFoundError as error:
                if lacks_bucket(error):
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
                is_refused = status_of(error) in _CHANGED or isinstance(error, FileExistsError)
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
        return {name.lstrip("/")[len(self.path) + 1 :]: int(info["size"]) for name, info in found.items()}

    def upload(self, file: Path) -> None:
        """Put a local file, in parts where it is large."""
        with self._telling():
            put_whole(lambda: self.fs.put_file(str(file), self.path, **in_parts(self.fs)))

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
                if lacks_bucket(error):
                    raise

    def remove_tree(self) -> None:
        """Delete everything under the path."""
        with self._telling():
            if found := self.fs.find(self.path):
                self.fs.rm(found)

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
                if lacks_bucket(error):
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
        with telling(str(self), check="the name of the bucket"):
            yield


def open_bucket(url: str, *, patience: int) -> BucketPath:
    """Return the prefix of a bucket that *url* names; its server is asked at the first use.

    Args: patience: seconds that a request may take, repetitions included.
    Raises: ConfigError: it is no URL of object storage, or the driver is missing.
    """
    check_url(url, subject="--index")
    try:
        files, options = open_files(urlsplit(url).scheme, patience=patience)
    except ImportError as error:
        raise ConfigError(
            f"is in object storage, whose driver is not installed ({error.name}); run: {install_line('s3')}",
            subject="--index",
        ) from error
    prefix = UPath(url.rstrip("/"), **options)
    prefix._fs_cached = files  # every path below it takes this one over
    made: BucketPath = BucketPath._from_upath(prefix)
    return made


def check_url(url: str, *, subject: str) -> None:
    """Raise ConfigError where *url* is not bucket and prefix alone; credentials have no place in it."""
    parts = urlsplit(url)
    more = parts.query or parts.fragment or "@" in url or ":" in parts.netloc
    if parts.scheme not in SCHEMES or more or not (parts.netloc and parts.path.strip("/")):
        raise ConfigError(
            "is neither a folder nor s3://BUCKET/PREFIX; server and credentials are for the environment "
            "(AWS_ENDPOINT_URL, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_PROFILE)",
            subject=subject,
        )
