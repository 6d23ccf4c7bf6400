"""Opening a run: settings and source file, the source's lease, a run to start or to resume."""

import logging
import os
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from flows.run.collection_lease import wait_for_collection
from flows.run.hold import check_hold
from flows.run.index import Index, model_of, open_index
from flows.run.leases import hold_lease
from flows.run.models import is_same, names_of_change
from flows.run.pipeline import Pipeline
from flows.run.problems import record_end
from flows.run.put_back import put_back
from flows.run.registry import activate, deactivate, take_over
from flows.run.work import end_work
from indexes.embed.encoder import offline_environment
from indexes.layout import IndexLayout
from indexes.publish.generation import load_generation
from runtime.clock import SystemClock
from runtime.devices import check_device
from runtime.garbage import raise_gc_threshold
from runtime.memory import share_heaps
from runtime.progress import StageProgress
from runtime.settings import read_settings
from schemas.errors import GuardRefused, SitegraphError
from schemas.fragment import GraphFragment
from schemas.report import Problem
from schemas.settings import Settings
from schemas.source import Source

if TYPE_CHECKING:
    from flows.run.first_look import FirstLook

_log = logging.getLogger(__name__)

RESUMABLE = timedelta(hours=12)
"""How long an interrupted run may be gone on with; what an older one saw is no longer news."""


@contextmanager
def open_pipeline(
    source: str,
    *,
    index: str | None = None,
    graph: str | None = None,
    accept: bool = False,
    quiet: bool = False,
    repair: bool = False,
) -> Iterator[Pipeline]:
    """Open everything a run needs; an interrupted run of the source is resumed by its id.

    A run that this process has open is gone on with, and left to who opened it.
    Where there is no index one is made, once the seeds of the source have been read.

    Raises: GuardRefused: publishing is held since a rollback, or the settings name another model than that
    of the index, and *accept* is false; or there is no index, and the source cannot be read; ConfigError:
    the source file, a file of tools that it names, or a setting is wrong.
    """
    # Not needed to open what is there, and not installed where an index is only read.
    from flows.run.first_look import FirstLook, look_first
    from runtime.entity_extractors import check_extractor
    from runtime.source_file import load_source
    from runtime.tool_files import load_tools

    if begun := take_over():
        yield begun.pipeline
        return
    loaded = load_source(Path(source))
    tools = load_tools(loaded, Path(source))
    settings = read_settings(index=index, graph=graph)
    check_device(settings.device)
    check_extractor(settings)
    with ExitStack() as stack:
        restored = put_back(settings)
        look = FirstLook()
        if not IndexLayout(Path(settings.index)).manifest.exists():
            look = stack.enter_context(look_first(loaded, settings, clock=SystemClock(), accept=accept))
        opened = open_index(settings, index_id=uuid4().hex)
        if not accept:
            check_hold(opened.layout)
        pipeline = stack.enter_context(open_pipeline_for(opened, loaded, tools=tools, quiet=quiet))
        pipeline.repair = repair
        _take_up(pipeline, look)
        check_model(pipeline, accept=accept)
        opened.ledger.sources.save(loaded)
        pipeline.run_id = start_or_resume(opened, loaded.name, pipeline.progress)
        _tell(pipeline, restored)
        activate(pipeline)
        try:
            _log.info(
                "run %s of %s, readers see generation %d", pipeline.run_id, loaded.name, opened.current()
            )
            pipeline.export_encoder()
            yield pipeline
        except Exception as error:
            with suppress(SitegraphError, OSError):  # of the ledger: what went wrong first says more
                record_end(pipeline, error)
            raise
        finally:
            pipeline.stop.set()
            end_work(pipeline.run_id)
            deactivate(pipeline)


def _tell(pipeline: Pipeline, restored: Iterable[str]) -> None:
    problems = [Problem(url=name, reason="was missing or damaged; put back") for name in restored]
    pipeline.index.ledger.runs.add_problems(pipeline.run_id, problems)
    for problem in problems:
        pipeline.progress.say(f"{problem.url} {problem.reason}")


def _take_up(pipeline: Pipeline, look: "FirstLook") -> None:
    """Go on in the session that the seeds were asked in, with what they answered."""
    pipeline.answers.update(look.answers)
    if look.session is not None:
        pipeline.session = look.session
    if look.opened_source is not None:
        pipeline.opened_source = look.opened_source


def check_model(pipeline: Pipeline, *, accept: bool) -> None:
    """Let the run change the model where that is accepted, or costs nothing.

    Raises: GuardRefused: it would encode what is there anew, and *accept* is false.
    """
    index = pipeline.index
    held, spec, passages = index.model(), model_of(index, other=True), count_passages(index)
    before, after = names_of_change(held, spec)
    pipeline.may_change_model = accept or not passages
    if not is_same(held, spec) and not pipeline.may_change_model:
        raise GuardRefused(
            f"the index is of model {before}, and {after} would encode all of its {passages} passages "
            "anew; look with: sitegraph plan SOURCE.yaml, go on with: sitegraph run SOURCE.yaml --accept, "
            "or set SITEGRAPH_MODEL and SITEGRAPH_DTYPE back",
            subject=str(index.layout.root),
        )


def count_passages(index: Index) -> int:
    """How many passages readers see, of all sources."""
    return sum(load_generation(index.layout, index.current()).totals().get("chunks", {}).values())


@contextmanager
def open_pipeline_for(
    index: Index, source: Source, *, tools: tuple[GraphFragment, ...] = (), quiet: bool = False
) -> Iterator[Pipeline]:
    """Open the parts of a run under the source's lease; they are closed and the index with them."""
    share_heaps()
    raise_gc_threshold()
    os.environ.update({k: v for k, v in offline_environment().items() if k not in os.environ})
    with ExitStack() as stack:
        progress = stack.enter_context(StageProgress(quiet=quiet))
        pipeline = Pipeline(index=index, source=source, run_id="", progress=progress, tools=tools)
        stack.callback(pipeline.close)
        index.ledger.owner.claim(index.manifest.index_id)
        lease = hold_lease(
            index.ledger.leases,
            f"source:{source.name}",
            clock=index.clock,
            progress=progress,
            stop=pipeline.stop,
            wait=False,
        )
        stack.enter_context(lease)
        wait_for_collection(index, progress=progress, stop=pipeline.stop)
        yield pipeline


def open_existing(settings: Settings) -> Index:
    """Open an index that is already there, for commands that change it or look for damage.

    Raises: ConfigError: there is no index; the message says how to make one.
    """
    return open_index(settings)


def open_described(settings: Settings) -> Index:
    """Open an index that is already there, for commands that say what is in it.

    Raises: ConfigError: there is no index; the message says how to make one.
    """
    return replace(open_index(settings), only_described=True)


def start_or_resume(index: Index, source: str, progress: StageProgress) -> str:
    """Return the run's id: that of an interrupted run of the source, unless it is too old, or a new one."""
    since = (index.clock.now() - RESUMABLE).isoformat(timespec="seconds")
    if interrupted := index.ledger.runs.interrupted(source, since=since):
        progress.say(f"resuming run {interrupted}")
        return interrupted
    run_id = uuid4().hex
    index.ledger.runs.start(run_id, source=source, now=index.now())
    return run_id
