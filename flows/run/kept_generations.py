"""Which generations are kept, and what each names besides its tables."""

from flows.run.index import Index
from indexes.layout import remedy
from indexes.publish.generation import load_generation
from indexes.publish.keeping import Made, parse_keep, plan_kept
from indexes.stores.ledger.generations import Generation
from schemas.errors import DamageFound

LINKS = "links/"


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


def links_file(generation: Generation) -> str | None:
    """Hash of what is known of a generation's links; None where nobody wrote it down."""
    named: str | None = generation.details.get("links")
    return named


def lost_links(index: Index, number: int) -> str | None:
    """Name what a generation knows of its links, if that is missing or damaged."""
    generation = index.ledger.generations.get(number)
    named = links_file(generation) if generation else None
    return f"{LINKS}{named[:12]}" if named and not index.links.has(named) else None


def require_current(index: Index) -> None:
    """Make sure that what readers see is known before anything is deleted that nothing names.

    Raises: DamageFound: the ledger, or the manifest, of the current generation is lost or older.
    """
    number = index.current()
    load_generation(index.layout, number)
    if number and index.ledger.generations.get(number) is None:
        raise DamageFound(
            f"does not know generation {number}, which readers see; {remedy(index.layout.root)}",
            subject="ledger",
        )
