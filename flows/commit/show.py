"""What people see who look into the graph store: the generation that readers see."""

from functools import partial

from flows.run.contexts import CommitContext
from flows.run.index import Index
from indexes.write.outbox import Plan, plan_sha256
from schemas.errors import DamageFound, StoreUnavailable


def show_current(index: Index) -> None:
    """Let people see the current generation; no work where they do, or where there is nothing to see.

    Raises: StoreUnavailable: the store cannot be reached; the next run shows it.
    """
    current = index.current()
    written = partial(written_chunks, index, current)
    index.graph.show(current, lambda: index.chunks.at(current), written=written)


def written_chunks(index: Index, number: int, base: int) -> frozenset[str] | None:
    """Ids of the chunks that a generation wrote on *base*; None if on another, or if its plan is gone."""
    generation = index.ledger.generations.get(number)
    if generation is None or generation.base != base:
        return None
    payloads = index.ledger.generations.payloads(number)
    if plan_sha256(payloads, base=base, source=generation.source) != generation.plan_sha:
        return None
    try:
        return Plan(store=index.outbox, payloads=payloads).chunk_ids()
    except DamageFound:
        return None


def show_missed(run: CommitContext) -> None:
    """Let people see what readers see; a crash came before that, or a rollback without the server."""
    try:
        show_current(run.index)
    except StoreUnavailable as error:
        run.progress.say(f"the Neo4j view is not updated yet: {error}")
