"""The account of a run: its problems, how fresh its source is, and metrics, spans and events for others.

Nothing of it may hold up or fail the run; where nothing is configured, nothing of it is imported.
"""

import logging
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from flows.run.contexts import RunContext
from flows.run.index import Index
from indexes.places import is_in_bucket, place_of
from indexes.stores.ledger.frontier import KEPT, SeenDocument
from ingest.parse.page_kind import NO_PASSAGES
from ingest.plan.frontier import is_limit
from ingest.plan.scope import redirect_rings
from runtime.clock import SystemClock
from runtime.telemetry.delivery import (
    SECONDS,
    LineageEnd,
    LineageSender,
    Say,
    finish_within,
    lineage_run,
    lineage_wanted,
    open_lineage,
    open_spans,
    tracing_wanted,
)
from schemas.errors import ConfigError, GuardRefused, SitegraphError, Stopped
from schemas.health import IndexHealth, LastRun, SourceStatus
from schemas.records import to_record
from schemas.redaction import one_line
from schemas.report import FreshnessState, Problem, judge_freshness
from schemas.settings import Settings
from schemas.source import Source


def problems_so_far(run: RunContext) -> tuple[Problem, ...]:
    """The problems of a run that is under way."""
    return problems_of(run, run.index.ledger.seen.of_run(run.source.name, run.run_id))


def problems_of(run: RunContext, seen: Sequence[SeenDocument]) -> tuple[Problem, ...]:
    """Documents that could not be used, and each reason that stopped others, by URL and reason."""
    ledger = run.index.ledger
    troubled = ("failed", "missing", "disallowed", "quarantined")
    failed = {
        Problem(url=d.uri, reason=f"{d.state.value}: {d.reason}" if d.reason else d.state.value)
        for d in seen
        if d.state.value in troubled
    }
    others = (*_stopped(run, seen), *_unmatched(run), *_indexes_as_one(ledger.runs.problems(run.run_id)))
    told = {
        replace(problem, url=one_line(problem.url), reason=one_line(problem.reason))
        for problem in {*failed, *others}
    }
    return tuple(sorted(told, key=lambda problem: (problem.url, problem.reason)))


def _indexes_as_one(problems: Iterable[Problem]) -> Iterator[Problem]:
    """One line for all indexes of a kind: a site has one for each tag and letter."""
    indexes: dict[str, set[str]] = {}
    for problem in problems:
        if problem.reason.endswith(NO_PASSAGES):
            indexes.setdefault(problem.reason, set()).add(problem.url)
        else:
            yield problem
    for reason, urls in indexes.items():
        more = f"; pages: {len(urls)}, such as this one" if len(urls) > 1 else ""
        yield Problem(url=min(urls), reason=f"{reason}{more}")


def _stopped(run: RunContext, seen: Sequence[SeenDocument]) -> Iterator[Problem]:
    """One line for all documents that one reason stopped, so that a trap does not drown the rest."""
    for count in run.index.ledger.stops.counts(run.run_id):
        yield _not_followed(count.reason, count.documents, count.example)
    rings = redirect_rings({d.uri: d.location for d in seen if d.location is not None})
    if rings:
        yield _not_followed("redirects lead back to where they began", len(rings), rings[0])


def _unmatched(run: RunContext) -> Iterator[Problem]:
    """Selectors of the source's `content` that match none of its pages, read in this run or before."""
    cleaning = run.source.cleaning
    if cleaning is None or not (named := tuple(cleaning.labels())):
        return
    name = run.source.name
    matched = run.index.ledger.matches.of_source(name, pipeline_version=run.pipeline_version)
    if matched is not None:
        yield from (Problem(url=name, reason=f"{one} matched no page") for one in named if one not in matched)


def _not_followed(reason: str, documents: int, example: str) -> Problem:
    number = f"at least {KEPT}" if documents >= KEPT else str(documents)
    told = f"{reason}; documents not followed: {number}, such as this one"
    return Problem(url=example, reason=told, left_out=documents if is_limit(reason) else 0)


def record_end(run: RunContext, error: Exception) -> None:
    """Keep in the ledger why a run ends without a report, and what was wrong with its documents.

    One that a guard refused, or whose settings are wrong, is closed: the next must look again, not go on
    where this one ended. Any other stays open for the next to go on with.
    """
    runs, run_id = run.index.ledger.runs, run.run_id
    problems = [to_record(problem) for problem in problems_so_far(run)]
    name = run.source.name
    reason = error.under(name) if isinstance(error, SitegraphError) else one_line(str(error))
    record = {"reason": reason or type(error).__name__, "problems": problems}
    if isinstance(error, GuardRefused | ConfigError):
        runs.finish(run_id, state="refused", now=run.index.now(), report=record)
    else:
        runs.note(run_id, record)


def freshness_by_source(index: Index) -> Mapping[str, FreshnessState]:
    """The freshness of every source that the ledger knows, by name; the SLO is that of its last run."""
    sources, ended = index.ledger.sources.all(), index.ledger.runs.last_finished()
    now = index.clock.now()
    return {
        name: judge_freshness(
            sources[name].freshness.slo if name in sources else None, as_of=ended.get(name), now=now
        )
        for name in sorted({*sources, *ended})
    }


def freshness_of(index: Index, source: str, *, slo: float | None) -> FreshnessState:
    """The freshness of one source against an SLO."""
    return judge_freshness(slo, as_of=index.ledger.runs.last_finished().get(source), now=index.clock.now())


_log = logging.getLogger(__name__)
UNKNOWN_FOR = timedelta(days=7)
_BAD_ENDS = ("refused", "failed", "stopped")
_WATCH: ContextVar["RunWatch | None"] = ContextVar("run_watch", default=None)


class RunWatch:
    """Takes what is known of a run as it comes; its report is None where it ends without one."""

    report: Mapping[str, Any] | None = None
    run_id: str | None = None

    def end(self, error: BaseException | None) -> None:
        """Tell how the run ended."""


@contextmanager
def watched_run(source: str, settings: Settings, *, say: Say = _log.warning) -> Iterator[RunWatch]:
    """Watch what the block does as one run of a source file; within another such block, as a part of that.

    *say* is given the one line that each failure to tell others is worth.
    """
    if (outer := _WATCH.get()) is not None:
        yield outer
        return
    watch = _open_watch(source, settings, say)
    token = _WATCH.set(watch)
    ended: BaseException | None = None
    try:
        yield watch
    except BaseException as error:
        ended = error
        raise
    finally:
        _WATCH.reset(token)
        watch.end(ended)


@contextmanager
def stage_span(stage: str) -> Iterator[None]:
    """Make a span of a stage of the run that is watched, if any is."""
    watch = _WATCH.get()
    if not isinstance(watch, _ConfiguredWatch):
        yield
        return
    span = watch.spans.begin(stage, parent=watch.span)
    try:
        yield
    except SitegraphError as error:
        span.fail(_message(error))
        raise
    finally:
        watch.spans.end(span)


def name_run(run_id: str) -> None:
    """Say the id of the run that is watched."""
    if (watch := _WATCH.get()) is not None:
        watch.run_id = run_id


def state_of_end(error: BaseException | None) -> str:
    """Tell how a run ended by what ended it."""
    if error is None:
        return "finished"
    if isinstance(error, GuardRefused):
        return "refused"
    return "failed" if isinstance(error, Exception) and not isinstance(error, Stopped) else "stopped"


def with_attempt(health: IndexHealth, source: str, attempt: LastRun) -> IndexHealth:
    """Return an index's health with how a run of the source just ended.

    The ledger knows no run that was refused before it began, and takes one that failed for interrupted.
    """
    if attempt.state == "finished":
        return health
    known = health.sources.get(source, SourceStatus())
    last = known.last_run
    if last is not None and last.started_at >= attempt.started_at:
        attempt = replace(attempt, report=last.report)
    return replace(health, sources={**health.sources, source: replace(known, last_run=attempt)})


def with_others(
    health: IndexHealth, source: str, attempts: Mapping[str, LastRun], *, now: datetime
) -> IndexHealth:
    """Return an index's health with how runs of other sources ended, as the textfile had it before.

    Of a run that was refused or failed before it began the ledger knows nothing. What it knows of a later run
    holds; a source that it does not know at all, as one that got another name, is told for a week.
    """
    for name, attempt in attempts.items():
        if name != source and attempt.state in _BAD_ENDS and _is_newest(attempt, health, name, now=now):
            health = with_attempt(health, name, attempt)
    return health


def _is_newest(attempt: LastRun, health: IndexHealth, name: str, *, now: datetime) -> bool:
    ended = datetime.fromisoformat(attempt.finished_at or attempt.started_at)
    if name not in health.sources:
        return now - ended < UNKNOWN_FOR
    from runtime.telemetry.families import timestamp

    last = health.sources[name].last_run
    return last is None or timestamp(last.started_at) <= ended.timestamp()


def _open_watch(path: str, settings: Settings, say: Say) -> RunWatch:
    """Return what watches as configured; what is wrong with settings or source is the run's to say."""
    try:
        asked = tracing_wanted(os.environ) or lineage_wanted(os.environ)
        if settings.metrics_file is not None or asked:
            return _ConfiguredWatch(path, settings, say)
    except SitegraphError:
        pass
    except Exception as fault:  # noqa: BLE001 - the run goes on without whatever this is
        say(f"could not set up metrics or traces: {_message(fault)}")
    return RunWatch()


@dataclass
class _ConfiguredWatch(RunWatch):
    path: str
    settings: Settings
    say: Say
    clock: SystemClock = field(default_factory=SystemClock)

    def __post_init__(self) -> None:
        self.started_at, self._is_over = self._now(), False
        self.place = place_of(self.settings)
        self.index = str(self.place)
        loaded = _load(self.path)
        self.source = loaded.name if loaded else _name(self.path)
        self.spans = open_spans(os.environ, say=self._say_meanwhile)
        self.span = self.spans.begin(f"run {self.source}")
        self.lineage = open_lineage(os.environ, say=self._say_meanwhile)
        uri = next(iter((*loaded.seeds, *loaded.roots)), None) if loaded else None
        self.run = lineage_run(os.environ, source=self.source, uri=uri and one_line(uri), index=self.index)
        self.lineage.start(self.run, at=self.started_at)

    def end(self, error: BaseException | None) -> None:
        steps: tuple[Callable[[BaseException | None], None], ...]
        steps = (self._end_span, self._end_lineage, self._write_metrics, self._deliver)
        for step in steps:
            try:
                step(error)
            except Exception as fault:  # noqa: BLE001 - the run has ended; whatever this is, it stays as it ended
                self.say(f"could not report metrics or traces: {_message(fault)}")

    def _end_span(self, error: BaseException | None) -> None:
        report = self.report or {}
        self.span.set(
            source=self.source,
            index=self.index,
            run_id=self.run_id,
            state=state_of_end(error),
            generation=report.get("generation"),
            published=report.get("published"),
        )
        if error is not None:
            self.span.fail(_message(error))
        self.spans.end(self.span)

    def _end_lineage(self, error: BaseException | None) -> None:
        if type(self.lineage) is LineageSender:
            return
        message = _message(error) if error is not None else None
        generation, rows = (None, None) if error is not None else _published(self.place)
        end = LineageEnd(generation=generation, rows=rows, error=message)
        self.lineage.end(self.run, end, at=self._now())

    def _write_metrics(self, error: BaseException | None) -> None:
        if self.settings.metrics_file is None:
            return
        from indexes.health import HealthReader
        from retrieval.learning.usage_log import count_usage
        from runtime.telemetry.families import index_families, usage_families
        from runtime.telemetry.prometheus import alone_in, read_attempts, write_textfile

        file = Path(self.settings.metrics_file)
        ended = LastRun(state=state_of_end(error), started_at=self.started_at, finished_at=self._now())
        with alone_in(file.parent):
            now = self.clock.now()
            reader = HealthReader(self.place, self.settings.ledger_url)
            health = with_attempt(reader.read(now.isoformat(timespec="seconds")), self.source, ended)
            health = with_others(health, self.source, read_attempts(file, self.index), now=now)
            # Those who read an index in a bucket log beside their own copies of it.
            usage = () if is_in_bucket(self.place) else usage_families(self.index, count_usage(self.place))
            write_textfile(file, (*index_families(health, now=now), *usage))

    def _deliver(self, _: BaseException | None) -> None:
        if not finish_within(SECONDS, (self.spans.close, self.lineage.close)):
            self._is_over = True
            self.say(f"spans or events of lineage were not all delivered within {SECONDS:g} s")

    def _say_meanwhile(self, line: str) -> None:
        if not self._is_over:  # what is still tried has been said to be lost
            self.say(line)

    def _now(self) -> str:
        return self.clock.now().isoformat(timespec="seconds")


def _load(path: str) -> Source | None:
    from runtime.source_file import load_source

    try:
        return load_source(Path(path))
    except SitegraphError:
        return None


def _name(path: str) -> str:
    """Name a source whose file is wrong as its runs before were named, where that can be read."""
    from runtime.source_file import name_in

    return name_in(Path(path)) or Path(path).stem


def _published(place: Path) -> tuple[int, int]:
    """The generation that readers see, and its chunks."""
    from indexes.layout import IndexLayout
    from indexes.publish.current import read_current
    from indexes.publish.generation import load_generation

    manifest = load_generation(IndexLayout(place), read_current(place))
    return manifest.generation, manifest.passages


def _message(error: BaseException) -> str:
    return one_line(str(error)) or type(error).__name__
