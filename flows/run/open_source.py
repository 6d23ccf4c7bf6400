"""A source opened as its kind says, with what kinds may use of a run."""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from indexes.places import place_of
from ingest.sources.registry import kind_named
from runtime.caches import cache_folder
from runtime.clock import SystemClock
from runtime.credentials import read_credentials
from schemas.hashing import record_sha256
from schemas.settings import Settings
from schemas.source import Source
from schemas.source_kinds import OpenSource, SourceContext

if TYPE_CHECKING:
    from ingest.fetch.client import FetchSession


@contextmanager
def open_source(
    source: Source,
    settings: Settings,
    *,
    clock: SystemClock,
    session: "Callable[[], FetchSession] | None" = None,
) -> Iterator[OpenSource]:
    """Open a source; *session* gives the run's HTTP client, else one is opened where it is needed.

    Raises: ConfigError: no such kind, or a variable of `auth` is not set; GuardRefused: it is not there.
    """
    kind = kind_named(source.kind)
    with ExitStack() as stack:

        @cache
        def own_session() -> Any:
            from flows.run.sessions import open_source_session

            return stack.enter_context(open_source_session(source, settings, clock=clock))

        context = SourceContext(
            cache=source_cache(settings, source.name),
            clock=clock,
            user_agent=source.user_agent or settings.user_agent,
            login=partial(_login, source),
            session=session or own_session,
        )
        yield stack.enter_context(kind.open(source, context))


def source_cache(settings: Settings, name: str) -> Path:
    """Where a source of this index may keep what it fetched, between runs."""
    return cache_folder(settings, "sources") / record_sha256([str(place_of(settings)), name])[:32]


def _login(source: Source, site: str) -> Callable[[str], dict[str, str]]:
    """Headers of the source's login for URLs of the site of an address; others are told nothing."""
    credentials = read_credentials(source, os.environ, seeds=(site,))
    return lambda url: {name.decode(): value.decode() for name, value in credentials.headers_for(url)}
