"""What other programs are told of a run, as Prefect events; docs/reference/events.md is the contract."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from indexes.stores.ledger.seen import SeenDocument
from schemas.documents import DocumentState
from schemas.errors import GuardRefused, PublishHeld, SitegraphError
from schemas.freshness import FreshnessState
from schemas.redaction import one_line
from schemas.report import RunReport

PUBLISHED = "sitegraph.generation.published"
HELD = "sitegraph.generation.held"
REFUSED = "sitegraph.generation.refused"
FRESH = "sitegraph.source.fresh"
STALE = "sitegraph.source.stale"
BLOCKED = "sitegraph.source.blocked"

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

_REFUSALS = ("HTTP 401", "HTTP 403", "HTTP 407", "HTTP 429", "HTTP 451")
_WALL = "firewall or bot check"


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


def events_of_report(report: RunReport, index: IndexName) -> tuple[SourceEvent, ...]:
    """Say what a run that ended well came to: published or not, its source is fresh."""
    events = []
    if report.freshness.stale:
        events.append(_event(STALE, report.source, index, _told(report.freshness)))
    counts = {name: number for name, number in report.documents.items() if number}
    if report.published:
        payload = {"generation": report.generation, "documents": counts, "run_id": report.run_id}
        events.append(_event(PUBLISHED, report.source, index, payload))
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
    if seen.state is DocumentState.QUARANTINED and _WALL in seen.reason:
        return "bot check"
    return next((why for why in _REFUSALS if seen.reason.startswith(why)), None)


def _told(freshness: FreshnessState) -> Mapping[str, Any]:
    """When the last run ended well, and how old that may be and is, in seconds."""
    age = "never" if freshness.age is None else f"{freshness.age / 3600:.1f} h ago"
    reason = f"the last run that ended well was {age}; promised: {(freshness.slo or 0) / 3600:.1f} h"
    return {"slo": freshness.slo, "age": freshness.age, "as_of": freshness.as_of, "reason": reason}


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
