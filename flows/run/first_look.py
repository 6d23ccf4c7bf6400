"""What a source is asked before an index is made for it: without its seeds there would be nothing in it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from flows.run.open_source import open_source
from flows.run.sessions import open_source_session
from ingest.diff.guard import NOTHING_READABLE, seed_refusal
from ingest.diff.lifecycle import after_fetch
from ingest.fetch.client import FetchSession
from ingest.fetch.crawl import fetch_all
from ingest.plan.scope import seed_urls
from runtime.clock import SystemClock
from schemas.documents import DocumentState, KnownDocument
from schemas.errors import GuardRefused
from schemas.fetch import FetchRequest, FetchResult
from schemas.settings import Settings
from schemas.source import Source
from schemas.source_kinds import OpenSource


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
    """What the ledger would say of the seeds, but of those that lead elsewhere: the crawl follows them."""
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
    ]
    return [row for row in rows if row.state is not DocumentState.REDIRECTED]


def _refused(source: Source, refusal: str) -> GuardRefused:
    return GuardRefused(f"{refusal}; nothing was changed", subject=source.name)
