"""What other programs are told of a run, as Prefect events; docs/reference/events.md is the contract."""

import logging
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from flows.run.account import freshness_by_source, freshness_of
from flows.run.index import Index
from flows.run.opening import open_described
from flows.run.resources import Resources
from indexes.layout import IndexLayout
from indexes.places import place_of
from indexes.stores.ledger.frontier import SeenDocument
from ingest.diff.soft_errors import WALL
from ingest.plan.scope import seed_urls
from runtime.logins import login_state, told_login
from runtime.source_file import load_source
from schemas.completeness import Completeness
from schemas.documents import DocumentState
from schemas.errors import ConfigError, GuardRefused, PublishHeld, SitegraphError
from schemas.redaction import one_line
from schemas.report import FreshnessState, LoginState, RunReport
from schemas.settings import Settings
from schemas.source import Source

PUBLISHED = "sitegraph.generation.published"
HELD = "sitegraph.generation.held"
REFUSED = "sitegraph.generation.refused"
FRESH = "sitegraph.source.fresh"
STALE = "sitegraph.source.stale"
BLOCKED = "sitegraph.source.blocked"
LOGIN_EXPIRES = "sitegraph.source.login_expires"
INCOMPLETE = "sitegraph.source.incomplete"

SOURCE, INDEX, FOLDER = "sitegraph.source", "sitegraph.index", "sitegraph.folder"
"""Labels of every event's resource: name of the source, id and folder of the index.

The folder is known before there is an index, and so to `sitegraph deploy`.
"""

LONGEST_REASON = 300
"""Characters; what is longer is in the run's log."""

BLOCKED_SHARE = 0.5
"""From this part of the documents on that a run looked at, the source refuses us, not a page."""

BLOCKED_LEAST = 3
"""So many documents at least, unless no seed is shown: a run of what is due may ask for one page."""

_REFUSALS = frozenset({401, 403, 407, 429, 451})


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexName:
    """The index an event is about: its id, and its folder, absolute."""

    id: str
    folder: Path

    @property
    def name(self) -> str:
        """What a person calls it."""
        return self.folder.name


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceEvent:
    """An event, ready to be sent."""

    event: str
    resource: Mapping[str, str]
    payload: Mapping[str, Any]


def source_id(name: str) -> str:
    """The resource of a source."""
    return f"{SOURCE}.{name}"


def events_of_report(
    report: RunReport, index: IndexName, *, max_fall: float = 1.0
) -> tuple[SourceEvent, ...]:
    """Say what a run that ended well came to: published or not, its source is fresh.

    And that of the pages that are named a share is indexed which fell by more than *max_fall*.
    """
    events = []
    if report.freshness.stale:
        events.append(_event(STALE, report.source, index, _told(report.freshness)))
    counts = {name: number for name, number in report.documents.items() if number}
    if report.published:
        payload = {"generation": report.generation, "documents": counts, "run_id": report.run_id}
        events.append(_event(PUBLISHED, report.source, index, payload))
    if report.completeness.fell > max_fall:
        events.append(_event(INCOMPLETE, report.source, index, _told_fall(report.completeness)))
    payload = {"generation": report.generation, "published": report.published, "run_id": report.run_id}
    return (*events, _event(FRESH, report.source, index, payload))


def events_of_error(
    source: str, error: SitegraphError, index: IndexName, freshness: FreshnessState | None
) -> tuple[SourceEvent, ...]:
    """Say why a run published nothing, and that its source is stale by now."""
    events = []
    reason = {"reason": _short(error.under(source))}
    if isinstance(error, PublishHeld):
        events.append(_event(HELD, source, index, reason))
    elif isinstance(error, GuardRefused):
        events.append(_event(REFUSED, source, index, reason))
    if freshness is not None and freshness.stale:
        events.append(_event(STALE, source, index, _told(freshness)))
    return tuple(events)


def event_of_stale(source: str, index: IndexName, freshness: FreshnessState) -> SourceEvent:
    """Say that a source is older than its SLO."""
    return _event(STALE, source, index, _told(freshness))


def event_of_block(
    source: str, index: IndexName, seen: Sequence[SeenDocument], *, seeds: Collection[str]
) -> SourceEvent | None:
    """Say that the site refuses most of what a run asked for: logins, robots.txt, rate limits, bot checks.

    What robots.txt has always forbidden does not count: to leave that alone is how it should be.
    """
    asked = [one for one in seen if not _is_left_alone(one, seeds)]
    refused = {one.uri: why for one in asked if (why := _refusal(one))}
    if not refused or len(refused) < BLOCKED_SHARE * len(asked):
        return None
    if len(refused) < BLOCKED_LEAST and not _shuts_out(seeds, refused, asked):
        return None
    whys = sorted(refused.values())
    reasons = {why: whys.count(why) for why in dict.fromkeys(whys)}
    told = ", ".join(f"{number} x {why}" for why, number in reasons.items())
    payload = {"documents": len(refused), "of": len(asked), "reasons": reasons, "reason": _short(told)}
    return _event(BLOCKED, source, index, payload)


def _is_left_alone(seen: SeenDocument, seeds: Collection[str]) -> bool:
    """Whether robots.txt forbids a page that nobody named and that was never read."""
    return seen.state is DocumentState.DISALLOWED and seen.doc is None and seen.uri not in seeds


def _shuts_out(seeds: Collection[str], refused: Collection[str], asked: Iterable[SeenDocument]) -> bool:
    """Whether every seed is refused, or what it leads to."""
    leads = {one.uri: one.location for one in asked}
    return bool(seeds) and all(seed in refused or leads.get(seed) in refused for seed in seeds)


def _refusal(seen: SeenDocument) -> str | None:
    """Why the site would not show a document; None where it did, or where something else went wrong."""
    if seen.state is DocumentState.DISALLOWED:
        return "robots.txt"
    if seen.state is DocumentState.QUARANTINED and WALL in seen.reason:
        return "bot check"
    is_refused = seen.state is DocumentState.FAILED and seen.http_status in _REFUSALS
    return f"HTTP {seen.http_status}" if is_refused else None


def event_of_login(
    source: Source, index: IndexName, state: LoginState, *, now: datetime
) -> SourceEvent | None:
    """Say that the login of a source ends soon, or has ended."""
    told = told_login(source, state, now=now)
    payload = {"expires_at": state.expires_at, "reason": _short(told or "")}
    return _event(LOGIN_EXPIRES, source.name, index, payload) if told else None


def _told(freshness: FreshnessState) -> Mapping[str, Any]:
    """When the last run ended well, and how old that may be and is, in seconds."""
    age = "never" if freshness.age is None else f"{freshness.age / 3600:.1f} h ago"
    reason = f"the last run that ended well was {age}; promised: {(freshness.slo or 0) / 3600:.1f} h"
    return {"slo": freshness.slo, "age": freshness.age, "as_of": freshness.as_of, "reason": reason}


def _told_fall(now: Completeness) -> Mapping[str, Any]:
    """The share of named pages that is indexed now, by how much it fell, and the reasons by number."""
    share, whys = now.share or 0.0, sorted(now.reasons.items(), key=lambda one: -one[1])
    told = ", ".join(f"{number} {why}" for why, number in whys)
    reason = _short(f"{share:.1%} of the named pages are indexed, {100 * now.fell:.1f} points less: {told}")
    return {"share": share, "fell": now.fell, "reasons": now.reasons, "reason": reason}


def _short(text: str) -> str:
    line = one_line(text)
    return line if len(line) <= LONGEST_REASON else f"{line[: LONGEST_REASON - 1]}…"


def _event(event: str, source: str, index: IndexName, payload: Mapping[str, Any]) -> SourceEvent:
    """Events of a generation are about the index, those of a source about the source; each names both."""
    of_index = event.startswith("sitegraph.generation.")
    resource = {
        "prefect.resource.id": f"{INDEX}.{index.id}" if of_index else source_id(source),
        "prefect.resource.name": index.name if of_index else source,
        SOURCE: source,
        INDEX: index.id,
        FOLDER: str(index.folder),
    }
    return SourceEvent(event=event, resource=resource, payload=payload)


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
        max_fall = resources.source.completeness.max_fall
        emit(events_of_report(report, _index_of_event(resources.index), max_fall=max_fall))


def tell_block(resources: Resources) -> None:
    """Say that the site refuses most of what this run asked for, if it does."""
    with _never_failing():
        index, run = resources.index, resources.run
        seen = index.ledger.seen.of_run(run.source, run.run_id)
        seeds = seed_urls(resources.source)
        event = event_of_block(run.source, _index_of_event(index), seen, seeds=seeds)
        emit([event] if event else [])


def tell_error(source: str, settings: Settings, error: SitegraphError) -> None:
    """Say why a run of a source file published nothing, wherever it ended."""
    with _never_failing():
        emit(_error_events(source, settings, error))


def tell_login(resources: Resources) -> None:
    """Say that the login of this run's source ends soon, if it does."""
    with _never_failing():
        emit(_login_events(resources.index, [resources.source]))


def tell_state(index: Index) -> None:
    """Say of each source that is older than its SLO, or whose login ends soon; wait until Prefect has it."""
    from prefect.events.worker import EventsWorker

    stale = {name: state for name, state in freshness_by_source(index).items() if state.stale}
    emit(event_of_stale(name, _index_of_event(index), state) for name, state in stale.items())
    emit(_login_events(index, index.ledger.sources.all().values()))
    EventsWorker.drain_all(timeout=SECONDS_TO_SEND)


def _login_events(index: Index, sources: Iterable[Source]) -> list[SourceEvent]:
    now, name = index.clock.now(), _index_of_event(index)
    told = (event_of_login(one, name, login_state(one, now=now), now=now) for one in sources)
    return [event for event in told if event is not None]


def _index_of_event(index: Index) -> IndexName:
    """The index of an event."""
    return _named(index.manifest.index_id, index.layout)


def _named(index_id: str, layout: IndexLayout) -> IndexName:
    """The folder is that of the deployment where it named one: links in it are not resolved."""
    return IndexName(id=index_id, folder=layout.root.absolute())


def _error_events(source: str, settings: Settings, error: SitegraphError) -> tuple[SourceEvent, ...]:
    try:
        loaded = load_source(Path(source))
    except ConfigError:  # which is what the run ended over: there is no source to speak of
        return ()
    layout, slo = IndexLayout(place_of(settings)), loaded.freshness.slo
    if not layout.manifest.exists():
        new = _named("new", layout)
        return events_of_error(loaded.name, error, new, None)
    opened = open_described(settings)
    try:
        return events_of_error(
            loaded.name, error, _index_of_event(opened), freshness_of(opened, loaded.name, slo=slo)
        )
    finally:
        opened.close()


@contextmanager
def _never_failing() -> Iterator[None]:
    try:
        yield
    except Exception as error:  # noqa: BLE001 - what a run came to does not hang on who hears of it
        _log.warning("no event was sent: %s", error)
