"""Sources opened as a run opens them, and what they say."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ingest.fetch.client import FetchSession
from ingest.parse.formats.registry import installed_formats
from ingest.sources.registry import kind_named
from runtime.clock import SystemClock
from runtime.source_file import parse_source
from schemas.fetch import FetchRequest, FetchResult
from schemas.source import Source
from schemas.source_kinds import OpenSource, SourceContext, SourceListing


@dataclass(frozen=True)
class Opened:
    """An open source, asked by URI."""

    source: Source
    port: OpenSource

    def listing(self) -> SourceListing:
        """What is there."""
        return self.port.discover(should_stop=lambda: False)

    def uris(self) -> list[str]:
        """URIs of what is there, in order."""
        return sorted(entry.uri for entry in self.listing().entries)

    def fetch(
        self, uris: Iterable[str], etags: Mapping[str, str | None] | None = None
    ) -> dict[str, FetchResult]:
        """Results by URI; each came once."""
        found: list[FetchResult] = []
        requests = [FetchRequest(url=uri, etag=(etags or {}).get(uri)) for uri in uris]
        self.port.fetch(requests, on_result=found.append, should_stop=lambda: False)
        assert sorted(result.url for result in found) == sorted(request.url for request in requests)
        return {result.url: result for result in found}


@contextmanager
def opened(
    text: str, folder: Path, *, cache: Path | None = None, login: Mapping[str, str] | None = None
) -> Iterator[Opened]:
    """Open the source that the text of a source file means."""
    source = parse_source(text, subject="source.yaml", folder=folder)
    with ExitStack() as stack:

        def session() -> Any:
            return stack.enter_context(
                closing(
                    FetchSession(
                        user_agent="sitegraph-test",
                        allow_private=source.allow_private,
                        per_host_delay=source.rate.per_host_delay,
                        concurrency=1,
                        clock=SystemClock(),
                        formats=installed_formats(),
                    )
                )
            )

        context = SourceContext(
            cache=cache or folder / "cache",
            clock=SystemClock(),
            user_agent="sitegraph-test",
            login=lambda _site: lambda _url: login or {},
            session=session,
        )
        yield Opened(source, stack.enter_context(kind_named(source.kind).open(source, context)))
