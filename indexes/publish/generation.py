"""`generations/N.json`: what a generation holds, as readers and `verify` are told."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from indexes.layout import IndexLayout
from indexes.manifest import IndexManifest, VectorSpace
from indexes.ports import StoreState
from indexes.publish.current import write_durably
from schemas.changes import Counts, add_counts
from schemas.errors import DamageFound
from schemas.records import from_record, to_record


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationManifest:
    """One published generation. `sources` counts documents, chunks, nodes and edges of each source.

    `stores` holds, by table, the counts per kind, the digest over all row hashes, and the store's version.
    `space` is where its vectors are; None: where those of the first generation are.
    """

    generation: int
    base: int
    as_of: str
    source: str
    run_id: str
    plan_sha: str
    sources: Mapping[str, Counts] = field(default_factory=dict)
    stores: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    space: VectorSpace | None = None

    def totals(self) -> dict[str, dict[str, int]]:
        """Rows by table and kind over all sources."""
        total: dict[str, dict[str, int]] = {}
        for counts in self.sources.values():
            total = add_counts(total, counts)
        return total


EMPTY = GenerationManifest(
    generation=0, base=0, as_of="1970-01-01T00:00:00+00:00", source="", run_id="", plan_sha=""
)
"""Generation 0: an index in which nothing has been published."""


def load_generation(layout: IndexLayout, number: int) -> GenerationManifest:
    """Read one generation's manifest.

    Raises: DamageFound: the file is missing or unreadable.
    """
    if number == 0:
        return EMPTY
    path = layout.generation(number)
    try:
        return from_record(GenerationManifest, json.loads(path.read_text()))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise DamageFound(
            "cannot be read; go back with: sitegraph rollback --to N", subject=str(path)
        ) from error


def space_of(layout: IndexLayout, manifest: IndexManifest, number: int) -> VectorSpace:
    """Where a generation has its vectors; one that is pruned, or cannot be read, has them nowhere else."""
    try:
        space = load_generation(layout, number).space
    except DamageFound:
        space = None
    return space or VectorSpace(model=manifest.model)


def generation_numbers(layout: IndexLayout) -> tuple[int, ...]:
    """Numbers of the generations that have a manifest, ascending."""
    return tuple(sorted(int(path.stem) for path in layout.generation(0).parent.glob("*.json")))


def dump_generation(layout: IndexLayout, manifest: GenerationManifest) -> None:
    """Write one generation's manifest, durably."""
    text = json.dumps(to_record(manifest), indent=2, sort_keys=True)
    write_durably(layout.generation(manifest.generation), text + "\n")


def store_record(state: StoreState) -> dict[str, object]:
    """What the manifest keeps of a store's state."""
    return {"counts": dict(state.counts), "digest": state.digest, "version": state.version}
