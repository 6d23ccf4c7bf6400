"""What people see who look into the graph store: the generation that readers see."""

from flows.run.contexts import CommitContext
from flows.run.index import Index
from schemas.errors import StoreUnavailable


def show_current(index: Index) -> None:
    """Let people see the current generation; no work where they do, or where there is nothing to see.

    Raises: StoreUnavailable: the store cannot be reached; the next run shows it.
    """
    current = index.current()
    index.graph.show(current, lambda: index.chunks.at(current))


def show_missed(run: CommitContext) -> None:
    """Let people see what readers see; a crash came before that, or a rollback without the server."""
    try:
        show_current(run.index)
    except StoreUnavailable as error:
        run.progress.say(f"people do not see the current generation yet: {error}")
