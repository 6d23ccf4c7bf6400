"""The HTTP client of a source."""

import os
from contextlib import AbstractContextManager

from ingest.fetch.client import FetchSession, open_session
from ingest.fetch.limits import limits_of
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
    """Open it, with the source's pace, its credentials, proxies, browser and limits."""
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
    )
