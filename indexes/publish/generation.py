"""`generations/N.json`: what a generation contains, as readers and `verify` are told."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from indexes.lattice_hash import LatticeHash
from indexes.layout import IndexLayout, remedy
from indexes.manifest import IndexManifest, VectorSpace
from indexes.places import write_durably
from indexes.ports import StoreState
from indexes.publish.current import read_pointer
from schemas.changes import Counts, add_counts
from schemas.errors import ConfigError, DamageFound
from schemas.families import SourceFamily
from schemas.hashing import sha256_hex
from schemas.later_fields import LATER
from schemas.records import from_record, to_record


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationManifest:
    """One published generation. `sources` counts documents, chunks, nodes and edges of each source.

    `stores` contains, by table, the counts per kind, the digest of all rows with the lanes that the next one
    is made from (none in what an earlier version published), and the store's version.
    `space` is where its vectors are; None: where those of the first generation are. `files` are those that
    readers open, with size and hash; none in what an earlier version published. `encoder` are those of the
    query encoder, and `pdfs` the hash of the bytes of each PDF whose pages are shown, by node id: what copies
    of the index need, too. `index` repeats `index.json`. `families` says which sources have versions of one
    manual. `pages` is the hash of what the pages of each PDF gave, by node id: a ledger that was lost has it
    from here.
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
    files: Mapping[str, str] = field(default_factory=dict)
    encoder: Mapping[str, str] = field(default_factory=dict)
    pdfs: Mapping[str, str] = field(default_factory=dict)
    index: IndexManifest | None = None
    families: tuple[SourceFamily, ...] = field(default=(), metadata=LATER)
    pages: Mapping[str, str] = field(default_factory=dict, metadata=LATER)

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

    Raises: DamageFound: the file is missing or unreadable, or is not the one that `CURRENT` was written for.
    """
    if number == 0:
        return EMPTY
    path = layout.generation(number)
    try:
        data = path.read_bytes()
        found = read_generation(data)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise DamageFound(f"cannot be read; {remedy(layout.root)}", subject=str(path)) from error
    if found.generation != number or _differs_from_current(layout, number, data):
        raise DamageFound(f"is damaged; {remedy(layout.root)}", subject=str(path))
    return found


def read_generation(data: bytes) -> GenerationManifest:
    """Read a manifest from its bytes.

    Raises: ValueError, KeyError, TypeError, AttributeError: it is none.
    """
    return from_record(GenerationManifest, json.loads(data))


def _differs_from_current(layout: IndexLayout, number: int, data: bytes) -> bool:
    try:
        pointer = read_pointer(layout.root)
    except (ConfigError, DamageFound):  # told where it is read for its number
        return False
    return pointer.generation == number and pointer.manifest_sha256 not in (None, sha256_hex(data))


def space_of(layout: IndexLayout, manifest: IndexManifest, number: int) -> VectorSpace:
    """Where a generation has its vectors; one that is pruned, or cannot be read, has them nowhere else."""
    try:
        space = load_generation(layout, number).space
    except DamageFound:
        space = None
    return space or VectorSpace(model=manifest.model)


def generation_numbers(layout: IndexLayout) -> tuple[int, ...]:
    """Numbers of the generations that have a manifest, ascending."""
    found = (path.stem for path in layout.generation(0).parent.glob("*.json"))
    return tuple(sorted(int(name) for name in found if name.isdecimal()))


def published_line(layout: IndexLayout, current: int) -> tuple[GenerationManifest, ...]:
    """Return the generations that readers saw and that are kept, oldest first, up to *current*.

    What a rollback took back has a higher number, until the next publish removes it.
    """
    numbers = (number for number in generation_numbers(layout) if number <= current)
    return tuple(load_generation(layout, number) for number in numbers)


def dump_generation(layout: IndexLayout, manifest: GenerationManifest) -> None:
    """Write one generation's manifest, durably."""
    write_durably(layout.generation(manifest.generation), generation_text(manifest))


def generation_text(manifest: GenerationManifest) -> str:
    """Return the text of one generation's manifest."""
    return json.dumps(to_record(manifest), indent=2, sort_keys=True) + "\n"


def store_record(state: StoreState) -> dict[str, object]:
    """What the manifest keeps of a store's state."""
    return {
        "counts": dict(state.counts),
        "digest": state.digest,
        "lanes": state.rows.to_text(),
        "version": state.version,
    }


def store_state(record: Mapping[str, Any]) -> StoreState | None:
    """Return the state that a manifest keeps of a store; None where it keeps too little, or not the same."""
    try:
        rows = LatticeHash.from_text(record["lanes"])
        state = StoreState(counts=dict(record["counts"]), rows=rows, version=record["version"])
        return state if state.digest == record["digest"] else None
    except (LookupError, TypeError, ValueError):
        return None
