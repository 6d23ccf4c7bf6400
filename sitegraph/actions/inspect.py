"""Inspect one document: fetch its bytes, parse them, and write to no index."""

import json
import os
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from flows.run.index import model_of, open_index
from flows.run.versions import find_model
from indexes.layout import IndexLayout
from indexes.places import place_of
from ingest.fetch.client import FetchSession
from ingest.fetch.document import fetch_all
from ingest.fetch.files import read_local_file
from ingest.fetch.gate import parse_allowed
from ingest.fetch.proxies import read_proxies
from ingest.fetch.robots import product_token
from ingest.fetch.signatures import RequestSigner
from ingest.parse.formats.registry import installed_formats
from ingest.parse.inspection import Inspection
from ingest.urls import canonical_url, file_url, host_port
from runtime.clock import SystemClock
from runtime.parser_pool import ParserPool
from runtime.request_keys import open_signer
from runtime.settings import naming_file
from schemas.advice import ADVICE, Trouble, trouble_of
from schemas.errors import ConfigError, FetchRefused, GuardRefused
from schemas.fetch import FetchRequest, FetchResult, FetchStatus
from schemas.fragment import Cleaning, ParseRequest
from schemas.records import from_record
from schemas.settings import Settings
from schemas.source import Rate
from sitegraph.actions.inspection import Report
from sitegraph.actions.inspection_building import build_report

if TYPE_CHECKING:
    from ingest.parse.pdf.opening import PagePicture

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


def load_document(
    target: str, *, user_agent: str, allow_private: Sequence[str], signer: RequestSigner | None = None
) -> Document:
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
    with closing(
        FetchSession(
            user_agent=user_agent,
            allow_private=tuple(allow_private),
            per_host_delay=Rate().per_host_delay,
            concurrency=1,
            proxies=read_proxies(os.environ),
            signer=signer,
            clock=SystemClock(),
            formats=installed_formats(),
        )
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
        with naming_file(path, "cannot be read"):
            data = read_local_file(real.parent, real.name, max_bytes=MAX_FILE_BYTES)
    except FetchRefused as error:
        raise ConfigError(f"cannot be read: {error.message}", subject=str(path)) from error
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


def inspect_target(
    target: str,
    settings: Settings,
    *,
    allow_private: Sequence[str] = (),
    draw: bool = False,
    cleaning: Cleaning | None = None,
) -> tuple[Report, "tuple[PagePicture, ...]"]:
    """Fetch or read *target*, parse it in a child under limits, and report; *draw*: with a PDF's pages.

    *cleaning*: as a source cleans its pages.

    Raises: ConfigError: no such file, address or model; GuardRefused: the URL is unavailable; ParseError,
    UnsupportedMedia: it cannot be parsed; SchemaMismatch: the index was made with another model.
    """
    signer = open_signer(settings, now=SystemClock().now)
    document = load_document(
        target, user_agent=settings.user_agent, allow_private=allow_private, signer=signer
    )
    with ParserPool(workers=1, tokenizer=_tokenizer(settings)) as pool:
        record = pool.inspect(document.data, replace(document.request, cleaning=cleaning), draw=draw)
    inspection = from_record(Inspection, json.loads(record))
    report = build_report(inspection, address=document.address, notes=document.notes)
    return report, inspection.pictures


def _tokenizer(settings: Settings) -> Path:
    """That of the index where there is one, since its chunks are counted with it; it is only looked at."""
    if IndexLayout(place_of(settings)).manifest.exists():
        return model_of(open_index(settings)).path / "tokenizer.json"
    return find_model(settings).path / "tokenizer.json"
