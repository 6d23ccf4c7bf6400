"""A source opened as its kind says, the HTTP client of its site, whose turn it is, and its first answers."""

import logging
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache, cached_property, partial
from pathlib import Path
from threading import Lock
from typing import Any
from uuid import uuid4

from indexes.places import cache_folder, place_of
from indexes.stores.ledger.leases import HostTurns, open_turns
from ingest.diff.guard import NOTHING_READABLE, seed_refusal
from ingest.diff.lifecycle import after_fetch
from ingest.fetch.client import FetchSession
from ingest.fetch.document import fetch_all
from ingest.fetch.login import LoginData, SiteLogin
from ingest.fetch.media import limits_of
from ingest.fetch.politeness import SharedTurns
from ingest.fetch.sitemaps import may_be_list
from ingest.parse.formats.registry import installed_formats
from ingest.plan.scope import seed_urls
from ingest.sources.registry import kind_named
from runtime.access import as_given, proxies_of, read_credentials
from runtime.clock import SystemClock
from runtime.logins import read_login, remedy_of
from runtime.programs import open_browser
from runtime.request_keys import open_signer
from schemas.documents import DocumentState, KnownDocument
from schemas.errors import GuardRefused
from schemas.fetch import FetchRequest, FetchResult, FetchStatus, HostTurn
from schemas.ids import record_sha256
from schemas.settings import Settings
from schemas.source import LoggedOut, Source
from schemas.source_kinds import OpenSource, SourceContext


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


_log = logging.getLogger(__name__)

ALONE = HostTurn(wait=0.0, seconds=3600.0)
"""What is answered where no database can be kept."""

FILE = "turns.sqlite"


def turns_url(settings: Settings) -> str | None:
    """The database of the turns: the ledger in PostgreSQL, else a file that all runs of this user know of.

    None: its folder cannot be written.

    It is not the index that counts: two of them, or one that is about to be made, may ask one host. And of a
    ledger in SQLite all runs are on one machine.
    """
    from platformdirs import user_cache_path

    if (settings.ledger_url or "").startswith("postgres"):
        return str(settings.ledger_url)
    folder = Path(settings.cache) if settings.cache else user_cache_path("sitegraph", appauthor=False)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return f"sqlite:///{folder / FILE}" if os.access(folder, os.W_OK) else None


class RunTurns:
    """The turns, opened when first a host is asked that wants a delay; see `HostTurns`."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._opening = Lock()

    def take(self, host: str, *, holder: str, delay: float) -> HostTurn:
        """Take the turn, or a place in the line."""
        turns = self._opened()
        return turns.take(host, holder=holder, delay=delay) if turns else ALONE

    def prolong(self, host: str, *, holder: str) -> None:
        """Keep the turn for longer."""
        if turns := self._opened():
            turns.prolong(host, holder=holder)

    def release(self, host: str, *, holder: str, since: float, pause: float) -> None:
        """Let others ask in *pause* seconds."""
        if turns := self._opened():
            turns.release(host, holder=holder, since=since, pause=pause)

    def leave(self, holder: str) -> None:
        """Forget a run that asks nothing any more, and close the database."""
        turns = self._turns if "_turns" in self.__dict__ else None
        if turns is None:
            return
        try:
            turns.leave(holder)
        finally:
            turns.close()

    def _opened(self) -> HostTurns | None:
        with self._opening:
            return self._turns

    @cached_property
    def _turns(self) -> HostTurns | None:
        url = turns_url(self._settings)
        if url is None:
            _log.warning("cache folder not writable; parallel runs will not share per-host delays")
        return open_turns(url) if url else None


def open_source_session(
    source: Source, settings: Settings, *, clock: SystemClock
) -> AbstractContextManager[FetchSession]:
    """Open it: the source's pace, kept together with all other runs, its login, proxies, limits."""
    login = open_login(source, now=clock.now)
    return closing(
        FetchSession(
            user_agent=source.user_agent or settings.user_agent,
            allow_private=source.allow_private,
            per_host_delay=source.rate.per_host_delay,
            concurrency=source.rate.concurrency,
            login=login,
            signer=open_signer(settings, now=clock.now),
            proxies=proxies_of(source, as_given(os.environ)),
            browser=open_browser(source, settings, storage=login.data.storage),
            limits=limits_of(source.limits),
            formats=installed_formats(),
            clock=clock,
            shared=SharedTurns(turns=RunTurns(settings), holder=uuid4().hex),
        )
    )


def open_login(source: Source, *, now: Callable[[], datetime]) -> SiteLogin:
    """Return what the requests of a source carry, and how its login is seen to be lost, and got again.

    Raises: ConfigError, GuardRefused: the login cannot be had.
    """
    read = partial(read_login, source)
    sign = source.login.logged_out
    return SiteLogin(
        read(now=now()),
        credentials=read_credentials(source, os.environ),
        sign=None if sign == LoggedOut() else partial(_shown_sign, sign),
        renew=(lambda: read(now=now()) or LoginData()) if source.login.command else None,
        remedy=remedy_of(source.login),
        source=source.name,
    )


def _shown_sign(sign: LoggedOut, result: FetchResult) -> str | None:
    from ingest.parse.html.logged_out import shown_sign  # parsers take a second to import

    return shown_sign(sign, result)


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstLook:
    """What the seeds answered, for the crawl not to ask again, and what they were asked in."""

    session: FetchSession | None = None
    opened_source: OpenSource | None = None
    answers: dict[str, FetchResult] = field(default_factory=dict)


@contextmanager
def look_first(
    source: Source, settings: Settings, *, clock: SystemClock, accept: bool
) -> Iterator[FirstLook]:
    """Ask the seeds of a source, or list the documents of one without; what is open lives in the block.

    *accept* goes on without a seed as long as another can be read.

    Raises: GuardRefused: a seed cannot be read, a root is not there, or there is no file in any.
    """
    if not source.seeds:
        with open_source(source, settings, clock=clock) as opened:
            if not opened.discover(should_stop=lambda: False).entries:
                raise _refused(source, NOTHING_READABLE)
            yield FirstLook(opened_source=opened)
        return
    with open_source_session(source, settings, clock=clock) as session:
        answers = _ask_seeds(source, session)
        if refusal := seed_refusal(answers, _rows(source, answers, clock), accept=accept):
            raise _refused(source, refusal)
        yield FirstLook(session=session, answers=answers)


def _ask_seeds(source: Source, session: FetchSession) -> dict[str, FetchResult]:
    answers: dict[str, FetchResult] = {}

    def on_result(result: FetchResult) -> None:
        answers[result.url] = result

    requests = [FetchRequest(url=seed) for seed in seed_urls(source)]
    fetch_all(requests, session=session, on_result=on_result, should_stop=lambda: False)
    return answers


def _rows(source: Source, answers: dict[str, FetchResult], clock: SystemClock) -> list[KnownDocument]:
    """What the ledger would say of the seeds, but for what leads elsewhere or may be a feed."""
    rows = [
        after_fetch(
            KnownDocument(source=source.name, uri=seed),
            result,
            raw_sha=None,
            run_id="",
            now=clock.now(),
            gone_after=source.recrawl.gone_after,
            conditional=False,
        )
        for seed, result in answers.items()
        if not (result.status is FetchStatus.UNSUPPORTED and may_be_list(seed))
    ]
    return [row for row in rows if row.state is not DocumentState.REDIRECTED]


def _refused(source: Source, refusal: str) -> GuardRefused:
    return GuardRefused(f"{refusal}; nothing was changed", subject=source.name)
