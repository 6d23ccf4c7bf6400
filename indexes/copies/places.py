"""Where the files of an index are read from, by their paths: a folder, a web server or a bucket."""

import http.client
import io
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import quote, urlsplit

from indexes.places import PATIENCE, bucket_of, object_place
from schemas.errors import ConfigError, DamageFound, StoreUnavailable, plain_reason


class Readable(Protocol):
    """What bytes are read from."""

    def read(self, size: int, /) -> bytes:
        """Return the next bytes, none at the end."""


class PlaceFile:
    """A file whose errors *telling* turns into those of its place; those of whoever takes the bytes pass."""

    def __init__(self, file: Readable, telling: Callable[[], AbstractContextManager[None]]) -> None:
        self._file, self._telling = file, telling

    def read(self, size: int, /) -> bytes:
        """Return the next bytes, none at the end. Raises: as `IndexPlace.opened`."""
        with self._telling():
            return self._file.read(size)


PULL_TOKEN = "SITEGRAPH_PULL_TOKEN"  # noqa: S105 - the name of the variable
SECONDS = 30.0
"""Without a byte, before a server counts as gone."""


class IndexPlace(Protocol):
    """A place that an index can be read from; paths are those of its folder. Threads may share it."""

    url: str

    def opened(self, path: str, start: int) -> Any:
        """Open a file from byte *start* on, as a context manager of `(start, Readable)`.

        The start is 0 where the place gives only whole files.
        Raises: FileNotFoundError: it is not there; StoreUnavailable: the place cannot be reached;
        ConfigError.
        """


def read_place_file(place: IndexPlace, path: str, *, most: int) -> bytes:
    """Read a small file. Raises: as `IndexPlace.opened`; DamageFound: it has more than *most* bytes."""
    with place.opened(path, 0) as (_, file):
        data = b"".join(iter_chunks(file, most=most + 1))
    if len(data) > most:
        raise DamageFound(f"has more than {most} bytes", subject=f"{place.url}/{path}")
    return data


def iter_chunks(file: Readable, *, most: int, size: int = 1 << 20) -> Iterator[bytes]:
    """Yield what a file has, *most* bytes of it."""
    while most > 0 and (chunk := file.read(min(size, most))):
        most -= len(chunk)
        yield chunk


class FolderPlace:
    """An index folder of this machine, or one that it mounts."""

    def __init__(self, root: Path) -> None:
        self.url = str(root.resolve())
        self._root = root

    @contextmanager
    def opened(self, path: str, start: int) -> Iterator[tuple[int, Readable]]:
        telling = partial(_telling_of_file, self._root / path)
        with ExitStack() as stack:
            with telling():
                file = stack.enter_context((self._root / path).open("rb"))
                file.seek(start)
            yield start, PlaceFile(file, telling)


@contextmanager
def _telling_of_file(path: Path) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError:
        raise
    except OSError as error:
        raise StoreUnavailable(f"cannot be read ({error.strerror})", subject=str(path)) from error


class _SameServer(urllib.request.HTTPRedirectHandler):
    """Follows redirects within one server: another one would be handed the token, and was not asked for."""

    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Any:
        if _server(req.full_url) != _server(newurl):
            raise ConfigError(
                f"leads to another server ({_server(newurl)}); give its address", subject=req.full_url
            )
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _server(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


class HttpPlace:
    """An index folder as a web server gives it, or `sitegraph serve` under /index.

    Args: token: sent as bearer token to this server alone.
    """

    def __init__(self, url: str, *, token: str | None = None) -> None:
        self.url = url.rstrip("/")
        self._headers = {"User-Agent": "sitegraph", "Accept-Encoding": "identity"}
        if token:
            self._headers["Authorization"] = f"Bearer {token}"
        self._opener = urllib.request.build_opener(_SameServer)

    @contextmanager
    def opened(self, path: str, start: int) -> Iterator[tuple[int, Readable]]:
        url = f"{self.url}/{quote(path)}"
        ranged = {"Range": f"bytes={start}-"} if start else {}
        request = urllib.request.Request(url, headers={**self._headers, **ranged})  # noqa: S310 - checked
        telling = partial(_telling_of_server, url)
        with ExitStack() as stack:
            with telling():
                answer = stack.enter_context(self._opener.open(request, timeout=SECONDS))
            yield start if answer.status == 206 else 0, PlaceFile(answer, telling)


@contextmanager
def _telling_of_server(url: str) -> Iterator[None]:
    try:
        yield
    except urllib.error.HTTPError as error:
        raise _refused(error, url) from error
    except (OSError, http.client.HTTPException) as error:
        reason = getattr(error, "reason", error)  # what urllib wraps
        raise StoreUnavailable(f"cannot be reached: {plain_reason(str(reason))}", subject=url) from error


def _refused(error: urllib.error.HTTPError, url: str) -> Exception:
    if error.code in (404, 410, 416):
        return FileNotFoundError(url)
    if error.code in (401, 403):
        return ConfigError(f"answers {error.code}; set {PULL_TOKEN} to its token", subject=url)
    return StoreUnavailable(f"answers {error.code} {error.reason}", subject=url)


def open_place(url: str, *, token: str | None = None, patience: int = PATIENCE) -> IndexPlace:
    """Return the place that a URL or a folder names; it is asked at the first use.

    Args: patience: seconds that a request to a bucket may take, repetitions included.
    Raises: ConfigError: the URL is none, has credentials in it, or a driver is missing.
    """
    if "://" not in url:
        return FolderPlace(Path(url))
    try:
        parts = urlsplit(url)
        plain = bool(parts.hostname) and not (parts.query or parts.fragment or "@" in parts.netloc)
    except ValueError:
        plain = False
    openers: dict[str, Callable[[], IndexPlace]] = {
        "http": lambda: HttpPlace(url, token=token),
        "https": lambda: HttpPlace(url, token=token),
        "s3": lambda: BucketPlace(url, patience=patience),
    }
    scheme = url.partition(":")[0].lower()
    if scheme not in openers or not plain or not url.isprintable() or " " in url:
        raise ConfigError(
            "is no place of an index; give a folder, s3://BUCKET/PREFIX or https://HOST/PATH, without query "
            f"and credentials (a token is for {PULL_TOKEN})",
            subject=url,
        )
    return openers[scheme]()


class BucketPlace:
    """An index under a prefix of a bucket. Server and credentials are the driver's variables (AWS_…)."""

    def __init__(self, url: str, *, patience: int) -> None:
        """Take *patience* seconds at most for a request, repetitions included.

        Raises: ConfigError: the driver is missing.
        """
        self.url = url.rstrip("/")
        self._root = object_place(self.url, patience=patience, subject=self.url, is_checked=True)

    @contextmanager
    def opened(self, path: str, start: int) -> Iterator[tuple[int, Readable]]:
        yield start, ObjectFile(self._root / path, start)


class ObjectFile:
    """An object read on from byte *start*, some megabytes by one request."""

    def __init__(self, path: Path, start: int) -> None:
        self._path, self._place, self._held, self._is_over = path, start, io.BytesIO(), False

    def read(self, size: int, /) -> bytes:
        """Return the next bytes, none at the end. Raises: as `IndexPlace.opened`."""
        data = self._held.read(size)
        if not data and not self._is_over and (bucket := bucket_of(self._path)):
            part, self._is_over = bucket.read_part(self._place)
            self._place += len(part)
            self._held = io.BytesIO(part)
            data = self._held.read(size)
        return data
