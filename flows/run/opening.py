"""Opening a run: its source file, the source's lease, a run to start or to resume."""

import logging
import os
import threading
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from uuid import uuid4

from flows.run.account import name_run, record_end
from flows.run.create_index import restore_pointers
from flows.run.generations import check_signing_key, repair_vectors, sign_current, wait_for_collection
from flows.run.index import Index, model_of, open_index
from flows.run.leases import check_hold
from flows.run.process_cache import shared
from flows.run.resources import Given, Resources
from flows.run.values import Run
from flows.run.versions import is_same, names_of_change
from indexes.embed.encoder import offline_environment
from indexes.layout import IndexLayout
from indexes.markers import refuse_audience, refuse_copy
from indexes.own_ledger import tell_damaged_ledger, tell_lost_ledger
from indexes.places import place_of
from indexes.publish.files import parse_keep
from indexes.publish.generation import load_generation
from runtime.clock import MAX_AHEAD, SystemClock
from runtime.logins import login_state, told_login
from runtime.progress import StageProgress
from runtime.readings import share_heaps
from runtime.request_keys import open_signer
from runtime.settings import check_device, check_task_runner, raise_gc_threshold
from schemas.advice import ADVICE, Trouble
from schemas.errors import GuardRefused, SitegraphError
from schemas.report import Problem
from schemas.settings import Settings

_log = logging.getLogger(__name__)

RESUMABLE = timedelta(hours=12)
"""How long an interrupted run may be gone on with; what an older one saw is no longer news."""

CLOCKS_DIFFER = timedelta(minutes=1)
"""How far behind the index this machine's clock may be before anybody is told."""


@contextmanager
def open_run(
    source: str, settings: Settings, *, accept: bool = False, quiet: bool = False, repair: bool = False
) -> Iterator[Resources]:
    """Open a run and its parts in this process; an interrupted run of the source is resumed by its id.

    Where there is no index one is made, once the seeds of the source have been read.

    Raises: GuardRefused: publishing has been held since a rollback, or the settings name another model than
    that of the index, and *accept* is false; or there is no index, and the source cannot be read;
    ConfigError: the source file, a file of tools that it names, or a setting is wrong.
    """
    # Not needed to open what is there, and not installed where an index is only read.
    from flows.run.sources import FirstLook, look_first
    from runtime.source_file import load_source, load_tools

    loaded = load_source(Path(source))
    tools = load_tools(loaded, Path(source))
    check_settings(settings, loaded.checks)
    with ExitStack() as stack:
        refuse_audience(place_of(settings))
        restored = restore_pointers(settings)
        look = FirstLook()
        if not IndexLayout(place_of(settings)).manifest.exists():
            look = stack.enter_context(look_first(loaded, settings, clock=SystemClock(), accept=accept))
        opened = open_index(settings, index_id=uuid4().hex)
        if not accept:
            check_hold(opened.layout)
        held = stack.enter_context(hold_source(opened, loaded.name, quiet=quiet))
        if repair:
            repair_vectors(opened)
        may_change_model = check_model(opened, accept=accept)
        opened.ledger.sources.save(loaded)
        sign_current(opened)
        run = Run(
            index=str(opened.layout.root),
            source=loaded.name,
            run_id=start_or_resume(opened, loaded.name, held.progress),
            source_file=str(Path(source).resolve()),
            accept=accept,
            model=opened.settings.model,
            may_change_model=may_change_model,
            repair=repair,
        )
        given = Given(
            session=look.session, opened_source=look.opened_source, answers=look.answers, tools=tools
        )
        resources = Resources(
            run, index=opened, source=loaded, progress=held.progress, stop=held.stop, given=given
        )
        _tell(resources, restored)
        with shared(resources), closing(resources):
            yield from _working(resources)


def check_settings(settings: Settings, checks: str | None) -> None:
    """Try what a run needs late, before it does anything; *checks* names the source's own questions.

    Raises: ConfigError: a device, key, task runner, rule or file that the settings name is wrong.
    """
    from runtime.language_model import check_extractor
    from runtime.yaml_files import load_checks

    check_device(settings.device)
    check_signing_key(settings)
    open_signer(settings, now=SystemClock().now)
    check_task_runner(settings)
    parse_keep(settings.keep, last=settings.keep_generations)
    check_extractor(settings)
    for questions in filter(None, (checks, settings.checks)):
        load_checks(Path(questions))


def _working(resources: Resources) -> Iterator[Resources]:
    """Keep why a run ends without a report."""
    run, index = resources.run, resources.index
    name_run(run.run_id)
    try:
        _log.info("run %s of %s, readers see generation %d", run.run_id, run.source, index.current())
        resources.export_encoder(read_all=run.repair)
        yield resources
    except Exception as error:
        with suppress(SitegraphError, OSError):  # of the ledger: what went wrong first says more
            record_end(resources.crawling(), error)
        raise


def _tell(resources: Resources, restored: Iterable[str]) -> None:
    problems = [Problem(url=name, reason="was missing or damaged; put back") for name in restored]
    problems += told_clock(resources.index)
    now = resources.index.clock.now()
    if told := told_login(resources.source, login_state(resources.source, now=now), now=now):
        problems.append(Problem(url=resources.source.name, reason=told))
    resources.index.ledger.runs.add_problems(resources.run.run_id, problems)
    for problem in problems:
        resources.progress.say(f"{problem.url} {problem.reason}")


def told_clock(index: Index) -> list[Problem]:
    """Say where this machine's clock is behind the index, and by which of both times go."""
    published = datetime.fromisoformat(load_generation(index.layout, index.current()).as_of)
    before = published - index.clock.now()
    if (ahead := index.clock.ahead) > CLOCKS_DIFFER:
        behind = f"{ahead.total_seconds() / 3600:.1f} hours behind the latest time in the index"
        return [Problem(url="clock", reason=f"{behind}; times go on from there: set the clock right")]
    if before > MAX_AHEAD:
        behind = f"{before.days} days behind the generation that readers see; times go by this clock"
        reason = f"{behind}: set it right if it is wrong, or else the one that made that generation"
        return [Problem(url="clock", reason=reason)]
    return []


def check_model(index: Index, *, accept: bool) -> bool:
    """Whether the run may change the model: where that is accepted, or costs nothing.

    Raises: GuardRefused: it would encode what is there again, and *accept* is false.
    """
    held, spec = index.model(), model_of(index, other=True)
    chunks = load_generation(index.layout, index.current()).passages
    before, after = names_of_change(held, spec)
    may_change_model = accept or not chunks
    if not is_same(held, spec) and not may_change_model:
        raise GuardRefused(
            f"the index is of model {before}, and {after} would encode all of its {chunks} passages "
            f"again; {ADVICE[Trouble.MODEL]}",
            subject=str(index.layout.root),
        )
    return may_change_model


@dataclass(frozen=True, slots=True)
class HeldSource:
    """A source whose lease this process has: how it shows progress, and what ends its work."""

    progress: StageProgress
    stop: threading.Event


@contextmanager
def hold_source(index: Index, source: str, *, quiet: bool = False) -> Iterator[HeldSource]:
    """Hold the lease of a source, as whoever changes what the index has of it must.

    Raises: StoreUnavailable: another run has it.
    """
    share_heaps()
    raise_gc_threshold()
    os.environ.update({k: v for k, v in offline_environment().items() if k not in os.environ})
    stop = threading.Event()
    with ExitStack() as stack:
        stack.callback(index.close)
        progress = stack.enter_context(StageProgress(quiet=quiet))
        index.claim_ledger()
        stack.enter_context(index.hold(f"source:{source}", progress=progress, stop=stop, wait=False))
        wait_for_collection(index, progress=progress, stop=stop)
        yield HeldSource(progress, stop)


def open_existing(settings: Settings, *, makes_ledger: bool = False) -> Index:
    """Open an index that is already there, for commands that change it or look for damage.

    A ledger that is not there is damage, unless the command *makes_ledger* again: most often it is elsewhere.

    Raises: ConfigError: there is no index; the message says how to make one; or it is a copy, or a setting
    is wrong.
    """
    parse_keep(settings.keep, last=settings.keep_generations)
    refuse_copy(Path(settings.index))
    refuse_audience(Path(settings.index))
    return open_index(settings, tell_lost=None if makes_ledger else tell_damaged_ledger)


def open_described(settings: Settings) -> Index:
    """Open an index that is already there, for commands that say what is in it.

    Raises: ConfigError: there is no index; the message says how to make one.
    """
    return open_index(settings, tell_lost=tell_lost_ledger)


def start_or_resume(index: Index, source: str, progress: StageProgress) -> str:
    """Return the run's id: that of an interrupted run of the source, unless it is too old, or a new one."""
    since = (index.clock.now() - RESUMABLE).isoformat(timespec="seconds")
    if interrupted := index.ledger.runs.interrupted(source, since=since):
        progress.say(f"resuming run {interrupted}")
        index.ledger.runs.resume(source)
        return interrupted
    run_id = uuid4().hex
    index.ledger.runs.start(run_id, source=source, now=index.now())
    return run_id
