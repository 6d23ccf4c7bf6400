"""Handing events to Prefect, which sends them in the background; no run waits for them or fails over them."""

import logging
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from flows.run.events import (
    IndexName,
    SourceEvent,
    event_of_block,
    event_of_stale,
    events_of_error,
    events_of_report,
)
from flows.run.freshness import freshness_by_source, freshness_of
from flows.run.index import Index
from flows.run.opening import open_described
from flows.run.resources import Resources
from indexes.layout import IndexLayout
from indexes.places import place_of
from ingest.plan.scope import seed_urls
from runtime.settings import read_settings
from runtime.source_file import load_source
from schemas.errors import ConfigError, SitegraphError
from schemas.report import RunReport

SECONDS_TO_SEND = 10.0
"""So long a command waits at most until its events are sent."""

_log = logging.getLogger(__name__)


def emit(events: Iterable[SourceEvent]) -> None:
    """Hand events to Prefect."""
    from prefect.events import emit_event

    for one in events:
        emit_event(event=one.event, resource=dict(one.resource), payload=dict(one.payload))


def tell_report(resources: Resources, report: RunReport) -> None:
    """Say what a run that ended well came to."""
    with _never_failing():
        emit(events_of_report(report, name_of_index(resources.index)))


def tell_block(resources: Resources) -> None:
    """Say that the site refuses most of what this run asked for, if it does."""
    with _never_failing():
        index, run = resources.index, resources.run
        seen = index.ledger.seen.of_run(run.source, run.run_id)
        seeds = seed_urls(resources.source)
        event = event_of_block(run.source, name_of_index(index), seen, seeds=seeds)
        emit([event] if event else [])


def tell_error(source: str, index: str | None, error: SitegraphError) -> None:
    """Say why a run published nothing, wherever it ended; *source* and *index* are the flow's parameters."""
    with _never_failing():
        emit(_error_events(source, index, error))


def tell_stale(index: Index) -> tuple[str, ...]:
    """Say of each source that is older than its SLO, and wait until Prefect has it; return their names."""
    from prefect.events.worker import EventsWorker

    stale = {name: state for name, state in freshness_by_source(index).items() if state.stale}
    emit(event_of_stale(name, name_of_index(index), state) for name, state in stale.items())
    EventsWorker.drain_all(timeout=SECONDS_TO_SEND)
    return tuple(stale)


def name_of_index(index: Index) -> IndexName:
    """The index of an event."""
    return _named(index.manifest.index_id, index.layout)


def _named(index_id: str, layout: IndexLayout) -> IndexName:
    """The folder is that of the deployment where it named one: links in it are not resolved."""
    return IndexName(id=index_id, folder=layout.root.absolute())


def _error_events(source: str, index: str | None, error: SitegraphError) -> tuple[SourceEvent, ...]:
    try:
        loaded, settings = load_source(Path(source)), read_settings(index)
    except ConfigError:  # which is what the run ended over: there is no source to speak of
        return ()
    layout, slo = IndexLayout(place_of(settings)), loaded.freshness.slo
    if not layout.manifest.exists():
        new = _named("new", layout)
        return events_of_error(loaded.name, error, new, None)
    opened = open_described(settings)
    try:
        return events_of_error(
            loaded.name, error, name_of_index(opened), freshness_of(opened, loaded.name, slo=slo)
        )
    finally:
        opened.close()


@contextmanager
def _never_failing() -> Iterator[None]:
    try:
        yield
    except Exception as error:  # noqa: BLE001 - what a run came to does not hang on who hears of it
        _log.warning("no event was sent: %s", error)
