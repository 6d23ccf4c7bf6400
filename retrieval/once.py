"""An index opened for one call: what programs share that answer and end."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path

from indexes.wiring import Readers, open_readers
from retrieval.as_of import find_generation
from retrieval.evidence import build_retriever, find_evidence
from retrieval.learning.usage_log import log_queries
from retrieval.question.query import read_policy
from retrieval.retriever import RetrievalResult
from schemas.evidence import Interface, Query
from schemas.health import Coverage
from schemas.settings import Settings

Warn = Callable[[str], None]


def open_once(
    settings: Settings,
    *,
    warn: Warn,
    use_graph: bool = True,
    use_rerank: bool = False,
    as_of: str | None = None,
) -> Readers:
    """Open the index at its current generation, or as it was; what could not be opened is a warning.

    Raises: ConfigError: no generation of *as_of*, a number or a date, is kept.
    """
    index = Path(settings.index)
    readers = open_readers(
        index,
        environment=settings,
        use_graph=use_graph,
        use_rerank=use_rerank,
        generation=None if as_of is None else find_generation(index, as_of),
    )
    for warning in readers.warnings:
        warn(warning)
    return readers


def coverage_of(settings: Settings, now: Callable[[], str]) -> Coverage:
    """Read from the ledger what the index may lack; raises as `read_coverage` does."""
    from indexes.own_ledger import read_coverage  # with a database library, which few answers need

    return read_coverage(Path(settings.index), now=now(), ledger_url=settings.ledger_url)


def answer_each(
    readers: Readers,
    settings: Settings,
    queries: Iterable[Query],
    *,
    door: Interface,
    now: Callable[[], str],
    clock: Callable[[], float],
    warn: Warn,
) -> Iterator[tuple[RetrievalResult, float]]:
    """Yield what each query brings, and in how many seconds; it is logged when the next one is asked for."""
    retriever = build_retriever(readers, policy=read_policy(settings.deny))
    for query in queries:
        began = clock()
        result = find_evidence(readers, retriever, query, coverage=partial(coverage_of, settings, now))
        seconds = clock() - began
        yield result, seconds
        log_usage(readers.index, result, door=door, now=now, seconds=seconds, warn=warn)


def log_usage(
    index: Path,
    result: RetrievalResult,
    *,
    door: Interface,
    now: Callable[[], str],
    warn: Warn,
    seconds: float | None = None,
    not_found: bool = False,
) -> None:
    """Append what was asked, and found, to the log beside the index; failing to is a warning."""
    try:
        log_queries(
            index,
            [result.query],
            timestamp=now(),
            results=[result],
            not_found=not_found,
            door=door,
            seconds=seconds,
        )
    except OSError as error:
        warn(f"the usage log cannot be written: {error}")
