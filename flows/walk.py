"""The walk of a run from planning to its report: which stage follows which, and what passes between them.

How a stage is run is the engine's: in this process (flows/start.py), or as a Prefect task (flows/recrawl.py).
"""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Any, Protocol, TypeVar

from flows import tasks
from flows.audiences.open import is_in_force
from flows.run.resources import Resources
from flows.run.stage import Stage, Stages
from flows.run.values import (
    ComparedSource,
    Crawled,
    CrawlWave,
    Embedded,
    FetchedBatch,
    ParsedBatch,
    Planned,
    Published,
    Quarantined,
    Run,
    sum_crawl,
)
from indexes.stores.ledger.leases import Lease
from schemas.report import RunReport

R = TypeVar("R")

Work = FetchedBatch | ParsedBatch


class Engine(Protocol):
    """Runs the stages of a walk."""

    def begin(self, run: Run) -> Run:
        """Give the run as its first stage is to be given it."""

    def call(self, stage: Stage[..., R], *values: Any) -> R:
        """Run a stage, and wait for it."""

    def parse_leftovers(self, run: Run, planned: Planned) -> Crawled:
        """Parse stored bytes that have no fragment of this pipeline version."""

    def crawl_wave(self, run: Run, wave: CrawlWave) -> Sequence[Work]:
        """Fetch and parse the batches of a wave: those of one shard in turn, shards side by side."""

    def embed(self, run: Run, compared: ComparedSource) -> Callable[[], Sequence[Embedded]]:
        """Begin to embed what changed; what is returned waits for the end of it."""


def walk(resources: Resources, engine: Engine, *, due: bool, stages: Stages) -> RunReport:
    """Crawl under the source's lease, which the caller holds, then change the index under its own."""
    index = resources.index
    with stages.timed("recover"):
        _restore_ledger(resources)
    with stages.timed("crawl"):
        crawled, quarantined = crawl(resources.run, engine, due_by=index.now() if due else None)
    with ExitStack() as stack:
        with stages.timed("wait"):
            lease = stack.enter_context(index.hold(progress=resources.progress, stop=resources.stop))
        with stages.timed("recover"):
            recovered = engine.call(tasks.recover, resources.run, lease, quarantined)
        with stages.timed("diff"):
            compared = engine.call(tasks.diff, resources.run, recovered)
        return _change(resources, engine, lease, compared, crawled, stages)


def _restore_ledger(resources: Resources) -> None:
    """Let a ledger that was lost know what readers see, before what comes is compared with it.

    Where what it is read from is damaged as well, the run says so when it recovers.
    """
    index = resources.index
    if index.current() == 0 or index.ledger.generations.get(index.current()) is not None:
        return
    from flows.commit.restore import find_damaged_files, restore_ledger

    with index.hold(progress=resources.progress, stop=resources.stop):
        if not find_damaged_files(index, repair=resources.run.repair):
            restore_ledger(resources.indexing())


def crawl(run: Run, engine: Engine, *, due_by: str | None) -> tuple[Crawled, Quarantined]:
    """Fetch and parse, wave after wave, until every document has been looked at."""
    planned = engine.call(tasks.plan, engine.begin(run), due_by)
    parsed: tuple[Crawled, ...] = (engine.parse_leftovers(run, planned),)
    crawled = sum_crawl((planned, *parsed))
    number = 1
    while (wave := engine.call(tasks.plan_wave, run, due_by, number, parsed)).batches:
        done = engine.crawl_wave(run, wave)
        parsed = tuple(one for one in done if isinstance(one, ParsedBatch))
        crawled = sum_crawl((crawled, *done))
        number += 1
    quarantined = engine.call(tasks.quarantine, run, wave)
    return sum_crawl((crawled, quarantined)), quarantined


def _change(
    resources: Resources,
    engine: Engine,
    lease: Lease,
    compared: ComparedSource,
    crawled: Crawled,
    stages: Stages,
) -> RunReport:
    """Publish what changed, if anything did; an empty difference writes nothing."""
    run, collected = resources.run, None
    published = None
    if compared.difference is not None:
        published = make_generation(run, engine, lease, compared, crawled, stages)
    if is_in_force(resources.index):
        with stages.timed("publish"):
            engine.call(tasks.audiences, run, lease, published)
    if published is not None or resources.index.has_grown:
        with stages.timed("collect"):
            collected = engine.call(tasks.collect, run, compared, published)
    return engine.call(tasks.report, run, compared, crawled, dict(stages.seconds), stages.costs, collected)


def make_generation(
    run: Run, engine: Engine, lease: Lease, compared: ComparedSource, crawled: Crawled, stages: Stages
) -> Published:
    """Embed and link side by side, freeze the plan, then write, verify, check and publish it."""
    with stages.timed("embed"):
        embedding = engine.embed(run, compared)
    with stages.timed("link"):
        linked = engine.call(tasks.link, run, compared)
    stages.move(linked.seconds_waited, "link", "embed")
    with stages.timed("embed"):
        embedded = embedding()
    with stages.timed("link"):
        frozen = engine.call(tasks.freeze, run, lease, compared, linked, embedded, crawled.texts)
    with stages.timed("write"):
        staged = engine.call(tasks.write, run, lease, frozen)
    with stages.timed("verify"):
        verified = engine.call(tasks.verify, run, frozen, staged)
        verified = engine.call(tasks.check, run, verified, lease, staged)
    with stages.timed("publish"):
        return engine.call(tasks.publish, run, lease, verified, staged)
