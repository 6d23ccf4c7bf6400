"""Which sources of the next generation have versions of one manual."""

from collections.abc import Collection, Iterable

from flows.run.index import Index
from indexes.publish.generation import load_generation
from ingest.plan.scope import seed_urls
from ingest.urls import folder_of
from schemas.families import SourceFamily
from schemas.source import Source


def family_of(source: Source) -> SourceFamily | None:
    """Return what readers need to join the source's documents with their other versions."""
    family = source.family
    if family is None:
        return None
    bases = () if family.url is not None else tuple(sorted({folder_of(url) for url in seed_urls(source)}))
    return SourceFamily(source=source.name, family=family.name, url=family.url, bases=bases)


def families_after(
    before: Iterable[SourceFamily], source: Source, *, there: Collection[str]
) -> tuple[SourceFamily, ...]:
    """Return the families of the sources that are *there* in the next generation, which *source* makes."""
    own = family_of(source)
    others = (one for one in before if one.source != source.name)
    found = (*others, *((own,) if own else ()))
    return tuple(sorted((one for one in found if one.source in there), key=lambda one: one.source))


def families_differ(index: Index, source: Source, *, base: int) -> bool:
    """Whether the source file says of versions what the base generation does not."""
    held = {one.source: one for one in load_generation(index.layout, base).families}
    return held.get(source.name) != family_of(source)
