"""Which generations are kept."""

from flows.run.index import Index


def kept_generations(index: Index) -> tuple[int, ...]:
    """The current generation and the ones it was built on, as many as the settings keep, oldest first."""
    number = index.current()
    kept: list[int] = []
    while _is_there(index, number) and len(kept) < index.settings.keep_generations:
        kept.append(number)
        row = index.ledger.generations.get(number)
        number = row.base if row is not None else 0
    return tuple(reversed(kept))


def _is_there(index: Index, number: int) -> bool:
    """Whether a generation has not been pruned: its manifest goes first and names what stores still hold."""
    return number > 0 and index.layout.generation(number).exists()
