"""The bytes of one document, from a file or from the web, and what its parser may know of it."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from ingest.fetch.client import FetchSession, open_session
from ingest.fetch.crawl import fetch_all
from ingest.fetch.files import read_file
from ingest.fetch.gate import parse_allowed
from ingest.fetch.proxies import read_proxies
from ingest.fetch.robots import product_token
from ingest.parse.formats.registry import installed_formats
from ingest.urls import canonical_url, file_url, host_port
from runtime.clock import SystemClock
from runtime.file_errors import os_error_reason
from schemas.advice import ADVICE, Trouble, trouble_of
from schemas.errors import ConfigError, FetchRefused, GuardRefused
from schemas.fetch import FetchRequest, FetchResult, FetchStatus
from schemas.fragment import ParseRequest
from schemas.source import Rate

SOURCE = "inspect"
"""Name of the source that ids are made with; of a web page they are those of any source."""

MAX_FILE_BYTES = 64 * 1024 * 1024
MAX_REDIRECTS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A document as it came; `notes` say what happened on the way."""

    data: bytes
    request: ParseRequest
    address: str
    notes: tuple[str, ...] = ()


def load_document(target: str, *, user_agent: str, allow_private: Sequence[str]) -> Document:
    """Fetch a URL as a crawl would (robots.txt, address check, limits), or read a file.

    Raises: ConfigError: no such file or no such address, or an entry that names no private address, which a
    file has no use for either; GuardRefused: the URL is unavailable.
    """
    robot = product_token(user_agent).lower()
    for entry in allow_private:
        parse_allowed(entry)
    if "://" not in target:
        return _read(Path(target), robot)
    url = canonical_url(target)
    if url is None or not url.startswith(("http://", "https://")):
        raise ConfigError("is not the address of a web page; give an http(s) URL or a file", subject=target)
    with open_session(
        user_agent=user_agent,
        allow_private=tuple(allow_private),
        per_host_delay=Rate().per_host_delay,
        concurrency=1,
        proxies=read_proxies(os.environ),
        clock=SystemClock(),
        formats=installed_formats(),
    ) as session:
        return follow(url, session, robot)


def _read(path: Path, robot: str) -> Document:
    if not path.exists():
        raise ConfigError(
            "no such file; give a file, or a URL with its http:// or https://", subject=str(path)
        )
    if not path.is_file():
        raise ConfigError("is not a file; give one document", subject=str(path))
    real = path.resolve()
    try:
        data = read_file(real.parent, real.name, max_bytes=MAX_FILE_BYTES)
    except FetchRefused as error:
        raise ConfigError(f"cannot be read: {error.message}", subject=str(path)) from error
    except OSError as error:
        raise ConfigError(f"cannot be read ({os_error_reason(error)})", subject=str(path)) from error
    uri = file_url(SOURCE, path.name)
    request = ParseRequest(uri=uri, source=SOURCE, path=path.name, robot=robot)
    return Document(data=data, request=request, address=str(path))


def follow(url: str, session: FetchSession, robot: str) -> Document:
    """Fetch a URL and what it redirects to. Raises: GuardRefused: it is unavailable, or leads in a ring."""
    seen = [url]
    while len(seen) <= MAX_REDIRECTS + 1:
        result = _fetch(seen[-1], session)
        if result.status is not FetchStatus.REDIRECTED or result.location is None:
            return _fetched(result, robot, [f"{one} redirects to {other}" for one, other in pairwise(seen)])
        if result.location in seen:
            raise GuardRefused("redirect loop", subject=url)
        seen.append(result.location)
    raise GuardRefused(f"more than {MAX_REDIRECTS} redirects in a row", subject=url)


def _fetch(url: str, session: FetchSession) -> FetchResult:
    results: list[FetchResult] = []
    fetch_all([FetchRequest(url=url)], session=session, on_result=results.append, should_stop=lambda: False)
    return results[0]


def _fetched(result: FetchResult, robot: str, notes: Sequence[str]) -> Document:
    if result.body is None:
        raise GuardRefused(_unavailable(result), subject=result.url)
    request = ParseRequest(
        uri=result.url,
        source=SOURCE,
        url=result.url,
        content_type=result.content_type,
        x_robots_tag=result.x_robots_tag,
        robot=robot,
    )
    return Document(data=result.body, request=request, address=result.url, notes=tuple(notes))


def _unavailable(result: FetchResult) -> str:
    """Say why, and what allows it if it was an address that is not public."""
    why = f"unavailable: {result.reason or result.status.value}"
    if trouble_of(why) is Trouble.PRIVATE:
        host, port = host_port(result.url)
        shown = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        return f"{why}; if it is your own, add --allow-private {shown}"
    trouble = trouble_of(why)
    return f"{why}; {ADVICE[trouble]}" if trouble is not Trouble.UNTOLD else why
