"""Which generations are kept."""

from flows.run.index import Index
from indexes.publish.keeping import Made, parse_keep, plan_kept


def kept_generations(index: Index) -> tuple[int, ...]:
    """The current generation and those that led to it, as the settings keep them, oldest first.

    One that is gone stays gone: its manifest goes first and names what stores still hold.
    Raises: ConfigError: the settings say no rule.
    """
    policy = parse_keep(index.settings.keep, last=index.settings.keep_generations)
    line = index.ledger.lineage.of(index.current())
    there = [
        Made(generation=one.generation, as_of=one.as_of)
        for one in line
        if index.layout.generation(one.generation).exists()
    ]
    return plan_kept(there, policy)
