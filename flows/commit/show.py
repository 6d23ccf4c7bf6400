"""What people see who look into the graph store: the generation that readers see."""

from functools import partial

from flows.run.contexts import CommitContext
from flows.run.index import Index
from indexes.ports import WrittenChunks
from indexes.write.outbox import Plan
from schemas.errors import DamageFound, StoreUnavailable


def show_current(index: Index) -> None:
    """Let people see the current generation; no work where they do, or where there is nothing to see.

    Raises: StoreUnavailable: the store cannot be reached; the next run shows it.
    """
    current = index.current()
    written = partial(written_chunks, index, current)
    index.graph.show(current, lambda: index.chunks.at(current), written=written)


def written_chunks(index: Index, number: int) -> WrittenChunks | None:
    """The chunks that a generation's plan writes; None where the plan is no longer kept whole."""
    generation = index.ledger.generations.get(number)
    payloads = index.ledger.generations.payloads(number)
    if generation is None or not payloads:
        return None
    try:
        ids = Plan(store=index.outbox, payloads=payloads).chunk_ids()
    except DamageFound:
        return None
    return WrittenChunks(base=generation.base, ids=ids)


def show_missed(run: CommitContext) -> None:
    """Let people see what readers see; a crash came before that, or a rollback without the server."""
    try:
        show_current(run.index)
    except StoreUnavailable as error:
        run.progress.say(f"people do not see the current generation yet: {error}")
