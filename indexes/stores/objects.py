"""Bytes kept by their hash in object storage: S3, or what speaks its protocol."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from indexes.object_errors import driver_failures, lacks_bucket, telling
from indexes.object_files import PATIENCE, in_parts, open_files, put_whole
from indexes.stores.packing import SUFFIX, missing, pack, place_of, unpack
from schemas.errors import ConfigError, DamageFound
from schemas.extras import install_line
from schemas.hashing import sha256_hex

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

RAW_URL = "SITEGRAPH_RAW_URL"

_SCHEME = "s3://"


class ObjectRawStore:
    """Keeps the port RawStore in `ab/cd/<sha256>.zst` under a prefix of a bucket.

    An object is put whole or not at all, so nothing is written beside its place first. `has` reads: a size
    or an ETag would say that something is there, not that it is still these bytes, and a small object
    costs as much to ask for as to read. Threads and processes may share it; each thread has one request
    under way.

    Args: files: a file system of fsspec that keeps no listings. root: bucket and prefix, without a scheme.
    failures: what its driver raises besides OSError when the server fails it. check: what people may look at
    first then.
    """

    def __init__(
        self,
        files: "AbstractFileSystem",
        root: str,
        *,
        failures: tuple[type[Exception], ...] = (),
        check: str = RAW_URL,
    ) -> None:
        self._files = files
        self._root = root.strip("/")
        self._failures = failures
        self._check = check
        self.has_grown = False

    def put(self, data: bytes) -> str:
        sha256 = sha256_hex(data)
        if not self.has(sha256):
            with self._telling():
                packed = pack(data)
                put_whole(lambda: self._files.pipe_file(self._path(sha256), packed, **in_parts(self._files)))
            self.has_grown = True
        return sha256

    def get(self, sha256: str) -> bytes:
        packed = self._read(sha256)
        if packed is None:
            raise missing(self._name(sha256))
        return unpack(packed, sha256, subject=self._name(sha256))

    def has(self, sha256: str) -> bool:
        packed = self._read(sha256)
        if packed is None:
            return False
        try:
            unpack(packed, sha256, subject=self._name(sha256))
        except DamageFound:
            return False
        return True

    def drop(self, sha256: str) -> None:
        with self._telling(), suppress(FileNotFoundError):
            self._files.rm_file(self._path(sha256))

    def hashes(self) -> Iterator[str]:
        yield from sorted(PurePosixPath(path).stem for path in self._find() if path.endswith(SUFFIX))

    def drop_all_but(self, named: Collection[str]) -> int:
        kept = {self._path(sha256) for sha256 in named}
        dropped = [path for path in self._find() if path.lstrip("/") not in kept]
        if dropped:
            with self._telling():
                self._files.rm(dropped)
        return len(dropped)

    def _find(self) -> list[str]:
        with self._telling():
            found: list[str] = self._files.find(self._root)
        return found

    def _read(self, sha256: str) -> bytes | None:
        with self._telling():
            try:
                packed: bytes = self._files.cat_file(self._path(sha256))
            except FileNotFoundError as error:
                if lacks_bucket(error):
                    raise
                return None
        return packed

    def _path(self, sha256: str) -> str:
        return f"{self._root}/{place_of(sha256)}"

    def _name(self, sha256: str) -> str:
        return str(self._files.unstrip_protocol(self._path(sha256)))

    @contextmanager
    def _telling(self) -> Iterator[None]:
        where = str(self._files.unstrip_protocol(self._root))
        with telling(where, check=self._check, failures=self._failures):
            yield


def check_object_url(url: str) -> None:
    """Raise ConfigError where *url* is not bucket and prefix alone; credentials have no place in it."""
    parts = urlsplit(url)
    plain = (
        parts.netloc and not (parts.query or parts.fragment) and "@" not in url and ":" not in parts.netloc
    )
    if not url.startswith(_SCHEME) or not plain:
        raise ConfigError(
            "is not s3://BUCKET or s3://BUCKET/PREFIX; server and credentials are for the environment "
            "(AWS_ENDPOINT_URL, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_PROFILE)",
            subject=RAW_URL,
        )


def open_object_store(url: str, *, patience: int = PATIENCE) -> ObjectRawStore:
    """Open the store under *url*; its server is asked at the first use.

    Args: patience: seconds that a request may take, repetitions included.
    Raises: ConfigError: it is no URL of S3, or the driver is missing.
    """
    check_object_url(url)
    try:
        files, _ = open_files("s3", patience=patience)
    except ImportError as error:
        raise ConfigError(
            f"names S3, whose driver is not installed; run: {install_line('s3')}", subject=RAW_URL
        ) from error
    return ObjectRawStore(files, url.removeprefix(_SCHEME), failures=driver_failures())
