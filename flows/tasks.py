"""The stages of a run: values in, values out.

A stage is given the run's name and its part of the work, and opens what it needs (flows/run/process_cache.py)
so that all but those that commit may run in any process that reaches the index. Arguments that a stage does
not read are what it waits for: Prefect draws the line by them. Stages import their code when they first run:
a run that finds nothing new imports nothing that links and writes.
"""

from collections.abc import Sequence

from flows.run.contexts import IndexContext
from flows.run.process_cache import resources_of
from flows.run.resources import Resources
from flows.run.stage import stage
from flows.run.values import (
    Batch,
    Collected,
    ComparedSource,
    Crawled,
    CrawlWave,
    Embedded,
    FetchedBatch,
    Frozen,
    Linked,
    ParsedBatch,
    Planned,
    Published,
    Quarantined,
    Recovered,
    Run,
)
from indexes.frozen_plan import StagedState
from indexes.layout import LANCE
from indexes.stores.ledger.leases import Lease
from schemas.cost import Cause, Costs
from schemas.report import RunReport


@stage(cause=Cause.PLAN, name="plan", run_name="plan {run.source}")
def plan(run: Run, due_by: str | None) -> Planned:
    """Bring seeds, sitemaps or folders, and a changed scope, into the ledger."""
    from flows.crawl.plan import plan_source

    with resources_of(run) as parts:
        documents = plan_source(parts.crawling(), due_by=due_by)
        return Planned(documents=documents, http=parts.take_http())


@stage(cause=Cause.PARSE, name="parse-leftovers", run_name="parse leftovers of {run.source}")
def parse_leftovers(run: Run, planned: Planned) -> ParsedBatch:  # noqa: ARG001
    """Parse stored bytes that have no fragment of this pipeline version."""
    from flows.crawl.parse import parse_what_is_left as parse

    with resources_of(run) as parts:
        return _counted(parts, parse(parts.crawling()))


@stage(cause=Cause.PLAN, name="plan-wave", run_name="plan {run.source}: wave {number}")
def plan_wave(run: Run, due_by: str | None, number: int, before: Sequence[Crawled]) -> CrawlWave:  # noqa: ARG001
    """Cut what the run has not looked at yet, some of it found by what was parsed before, into batches."""
    from flows.crawl.plan import plan_next_wave as batches_of

    with resources_of(run) as parts:
        batches = batches_of(parts.crawling(), due_by=due_by)
        parts.progress.expect("fetch", sum(len(batch.uris) for batch in batches))
        return CrawlWave(number=number, batches=batches)


@stage(cause=Cause.FETCH, name="fetch", run_name="fetch {run.source}: {batch.told}", is_retried=True)
def fetch(run: Run, batch: Batch, before: FetchedBatch | None) -> FetchedBatch:  # noqa: ARG001
    """Fetch one batch of one shard, after the one before it."""
    from flows.crawl.fetch import fetch_batch, unfetched

    with resources_of(run) as parts:
        context = parts.crawling()
        uris = unfetched(context, batch.uris) if run.token else batch.uris
        documents = fetch_batch(context, uris, sampled=batch.sampled)
        http, spent = parts.take_http(), parts.take_spent()
        return FetchedBatch(documents=documents, http=http, spent=spent)


@stage(cause=Cause.PARSE, name="parse", run_name="parse {run.source}: {batch.told}")
def parse(run: Run, batch: Batch, fetched: FetchedBatch) -> ParsedBatch:  # noqa: ARG001
    """Parse one fetched batch."""
    from flows.crawl.parse import parse_batch

    with resources_of(run) as parts:
        return _counted(parts, parse_batch(parts.crawling(), batch.uris))


@stage(cause=Cause.QUARANTINE, name="quarantine", run_name="quarantine and deduplicate {run.source}")
def quarantine(run: Run, last: CrawlWave) -> Quarantined:  # noqa: ARG001
    """Put aside what is no content, and what is the same at several addresses; refuse a source without seeds.

    Raises: GuardRefused.
    """
    from flows.crawl.quarantine import quarantine_and_deduplicate
    from flows.derive.diff import check_seeds

    with resources_of(run) as parts:
        known = quarantine_and_deduplicate(parts.crawling(), accept=run.accept)
        check_seeds(parts.indexing(), known, accept=run.accept)
        http, pages = parts.take_http(), parts.take_pages()
        return Quarantined(documents=len(known), http=http, pages=pages, peak_child_mb=parts.peak_child_mb)


@stage(cause=Cause.RECOVER, name="recover", run_name="recover {run.source}")
def recover(run: Run, lease: Lease, quarantined: Quarantined) -> Recovered:  # noqa: ARG001
    """Finish or take back what a crashed run left, and see what is damaged of what readers open.

    Raises: GuardRefused: publishing is held.
    """
    from flows.commit.restore import Repair, look_for_damage
    from flows.run.leases import check_hold

    with resources_of(run) as parts:
        context = parts.indexing()
        context.crash_point("lease.acquired")
        if not run.accept:
            check_hold(context.index.layout)  # a rollback may have come while the source was crawled
        unfinished = bool(context.index.ledger.generations.unfinished())
        repair = look_for_damage(context, repair=run.repair, writes=unfinished)
        if unfinished:
            _withdraw(parts, every=True)
        # What a crash left in damaged stores goes with them.
        published = _close_unfinished(context, lease) if repair is not Repair.STORES else ()
        # An encoder that no generation names yet goes with what recovery prunes.
        parts.export_encoder(read_all=run.repair)
        return Recovered(repair=repair, published=published)


@stage(cause=Cause.DIFF, name="diff", run_name="diff {run.source}")
def diff(run: Run, recovered: Recovered) -> ComparedSource:
    """Compare the ledger with the generation that readers see.

    Raises: GuardRefused: too much of the source would go.
    """
    from flows.commit.restore import Repair, from_nothing, look_before_writing
    from flows.derive.diff import compare_source

    with resources_of(run) as parts:

        def compared(repair: Repair) -> ComparedSource:
            rebuild = from_nothing if repair is Repair.STORES else None
            repairs = repair is not Repair.NOTHING
            return compare_source(parts.indexing(), accept=run.accept, rebuild=rebuild, repairs=repairs)

        repair = Repair(recovered.repair)
        found = compared(repair)
        if found.difference is None or repair is Repair.STORES:
            return found
        needed = look_before_writing(parts.indexing())
        return compared(needed) if needed is Repair.STORES else found


@stage(cause=Cause.EMBED, name="embed", run_name="embed {run.source}: {compared.to_embed}")
def embed(run: Run, compared: ComparedSource) -> Embedded:
    """Give the texts of changed documents, or of a part of them, their vectors."""
    from flows.derive.embed import embed_fragments

    with resources_of(run) as parts:
        texts = embed_fragments(parts.indexing(), compared.fragments)
        return Embedded(texts=texts, spent=parts.take_spent())


@stage(cause=Cause.LINK, name="link", run_name="link {run.source}: {compared.told}")
def link(run: Run, compared: ComparedSource) -> Linked:
    """Plan the rows of every document that changes and of those around it, and what follows from all."""
    from flows.derive.freeze import link_source

    with resources_of(run) as parts:
        return link_source(parts.indexing(), compared)


@stage(cause=Cause.LINK, name="freeze", run_name="freeze {run.source}: {compared.told}")
def freeze(
    run: Run, lease: Lease, compared: ComparedSource, linked: Linked, embedded: Sequence[Embedded], ahead: int
) -> Frozen:
    """Fix the plan as the next generation; from here on a crash is followed by a replay.

    Raises: GuardRefused: readers would find nothing, or much less.
    """
    from flows.derive.freeze import freeze_plan

    with resources_of(run) as parts:
        texts = ahead + sum(part.texts for part in embedded)
        return freeze_plan(parts.indexing(), compared, linked, lease=lease, accept=run.accept, embedded=texts)


@stage(
    cause=Cause.WRITE,
    name="write",
    run_name="write {run.source}: generation {frozen.generation}",
    is_retried=True,
)
def write(run: Run, lease: Lease, frozen: Frozen) -> StagedState:
    """Write the frozen plan into both stores; may be repeated."""
    from flows.commit.write import require_generation, write_plan

    with resources_of(run) as parts:
        context = parts.indexing()
        return write_plan(context, require_generation(context.index, frozen), lease=lease)


@stage(cause=Cause.VERIFY, name="verify", run_name="verify {run.source}: generation {frozen.generation}")
def verify(run: Run, frozen: Frozen, staged: StagedState) -> Frozen:
    """Compare both stores with the plan, before any reader sees them.

    Raises: DamageFound: a store does not hold what the plan says.
    """
    from flows.commit.write import require_generation, verify_generation

    with resources_of(run) as parts:
        context = parts.indexing()
        verify_generation(context, require_generation(context.index, frozen), staged)
        return Frozen(generation=frozen.generation)


@stage(
    cause=Cause.VERIFY,
    name="check",
    run_name="check {run.source}: generation {frozen.generation}",
    is_retried=True,
)
def check(run: Run, frozen: Frozen, lease: Lease, staged: StagedState) -> Frozen:  # noqa: ARG001
    """Ask the staged generation what readers must go on finding; nothing where no file of questions is named.

    Raises: PublishHeld: evidence that was there is gone; the generation is taken back.
    """
    from flows.commit.check import check_generation
    from flows.commit.write import require_generation

    with resources_of(run) as parts:
        context = parts.indexing()
        generation = require_generation(context.index, frozen)
        check_generation(context, generation, lease=lease, accept=run.accept)
        return Frozen(generation=frozen.generation)


@stage(cause=Cause.PUBLISH, name="publish", run_name="publish {run.source}: generation {frozen.generation}")
def publish(run: Run, lease: Lease, frozen: Frozen, staged: StagedState) -> Published:
    """Let readers see what was verified.

    Raises: StaleLease: another run has taken over; nothing is published.
    """
    from flows.commit.publish import publish_generation
    from flows.commit.write import require_generation
    from flows.run.leases import lift_hold

    with resources_of(run) as parts:
        context = parts.indexing()
        _withdraw(parts)
        publish_generation(context, require_generation(context.index, frozen), staged, lease=lease)
        lift_hold(context.index.layout)
        return Published(generation=frozen.generation)


@stage(cause=Cause.PUBLISH, name="audiences", run_name="audiences of {run.source}")
def audiences(run: Run, lease: Lease, published: Published | None) -> None:  # noqa: ARG001
    """Bring each audience up to date with what readers of the whole index see of the source."""
    from flows.audiences.update import update_audiences

    with resources_of(run) as parts:
        update_audiences(parts, sources={run.source})


@stage(cause=Cause.COLLECT, name="collect", run_name="collect {run.source}")
def collect(run: Run, compared: ComparedSource, published: Published | None) -> Collected:
    """Delete old generations, and files that nothing needs any more."""
    from flows.commit.publish import collect_garbage, prune_generations

    with resources_of(run) as parts:
        if published is None:
            return Collected(files=collect_garbage(parts.index, source=run.source))
        return Collected(
            files=prune_generations(parts.index, source=run.source, keep=(compared.difference or "",))
        )


@stage(cause=Cause.REPORT, name="report", run_name="report {run.source}")
def report(
    run: Run,
    compared: ComparedSource,
    crawled: Crawled,
    seconds: dict[str, float],
    costs: Costs,
    before: Collected | None,  # noqa: ARG001
) -> RunReport:
    """Reschedule what was looked at, and record what the run did."""
    from flows.commit.check import forget_hold
    from flows.commit.report import record_run
    from flows.derive.diff import load_difference

    with resources_of(run) as parts:
        context = parts.indexing()
        context.crash_point("report.before")
        began = context.index.clock.monotonic()
        difference = load_difference(context.index, compared)
        forget_hold(context.index, run.source)
        return record_run(
            context, difference, crawled, seconds=seconds, began=began, costs=costs, encoded=parts.encoded
        )


def _close_unfinished(context: IndexContext, lease: Lease) -> tuple[int, ...]:
    """What publishes and writes is imported only where something is to be finished, or shown on a server."""
    index = context.index
    is_known = index.current() == 0 or index.ledger.generations.get(index.current()) is not None
    if is_known and index.manifest.graph == LANCE and not index.ledger.generations.unfinished():
        index.ledger.leases.check(lease)
        return ()
    from flows.commit.recover import finish_interrupted as close_unfinished

    return close_unfinished(context, lease=lease)


def _withdraw(parts: Resources, *, every: bool = False) -> None:
    """Take out of audiences what their readers may see no more, of the run's source or of every one."""
    from flows.audiences.open import is_in_force

    if not is_in_force(parts.index):
        return
    from flows.audiences.update import withdraw_narrowed

    sources = parts.index.ledger.sources.all().keys() if every else {parts.run.source}
    withdraw_narrowed(parts, sources=sources)


def _counted(parts: Resources, parsed: ParsedBatch) -> ParsedBatch:
    if parts.run.token and parsed.texts:
        parts.encoding().wait()  # nobody else knows of texts that wait in this process
    return ParsedBatch(
        documents=parsed.documents,
        texts=parsed.texts,
        pages=parts.take_pages(),
        peak_child_mb=parts.peak_child_mb,
        spent=parts.take_spent(),
    )
