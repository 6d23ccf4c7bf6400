"""What people see who look into the graph store: the generation that readers see."""

from flows.wiring import Index


def show_current(index: Index) -> None:
    """Let people see the current generation; no work where they do, or where there is nothing to see.

    Raises: StoreUnavailable: the store cannot be reached; the next run shows it.
    """
    current = index.current()
    index.graph.show(current, lambda: index.chunks.at(current))
