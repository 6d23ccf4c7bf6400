"""The HTTP client of a source."""

import os
from contextlib import AbstractContextManager
from uuid import uuid4

from flows.run.host_turns import RunTurns
from ingest.fetch.client import FetchSession, open_session
from ingest.fetch.limits import limits_of
from ingest.fetch.shared_turns import SharedTurns
from ingest.parse.formats.registry import installed_formats
from runtime.clock import SystemClock
from runtime.credentials import read_credentials
from runtime.processes.chromium import open_browser
from runtime.proxies import as_given, proxies_of
from schemas.settings import Settings
from schemas.source import Source


def open_source_session(
    source: Source, settings: Settings, *, clock: SystemClock
) -> AbstractContextManager[FetchSession]:
    """Open it: the source's pace, kept together with all other runs, its credentials, proxies, limits."""
    return open_session(
        user_agent=source.user_agent or settings.user_agent,
        allow_private=source.allow_private,
        per_host_delay=source.rate.per_host_delay,
        concurrency=source.rate.concurrency,
        credentials=read_credentials(source, os.environ),
        proxies=proxies_of(source, as_given(os.environ)),
        browser=open_browser(source, settings),
        limits=limits_of(source.limits),
        formats=installed_formats(),
        clock=clock,
        shared=SharedTurns(turns=RunTurns(settings), holder=uuid4().hex),
    )
