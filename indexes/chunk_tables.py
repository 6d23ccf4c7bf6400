"""The chunk store of an index whose generations may have vectors of different models.

All generations of one model share a table. A change of model begins a table of its own, with the generation
that makes it; readers of earlier ones keep theirs, so no search ever compares vectors of two models.
"""

import re
from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from indexes.layout import IndexLayout, IndexManifest, VectorSpace, table_begun_by
from indexes.places import remove_tree
from indexes.ports import ChunkReader, ChunkStore, ChunkVectors, ChunkWriter, StoreState
from indexes.publish.generation import generation_numbers, space_of
from schemas.errors import ConfigError
from schemas.nodes import Chunk

if TYPE_CHECKING:
    import lancedb

_TABLE = re.compile(r"chunks-\d+")


class ChunkTables:
    """Keeps the port ChunkStore over the tables of an index."""

    def __init__(
        self,
        layout: IndexLayout,
        manifest: IndexManifest,
        *,
        session: "lancedb.Session | None" = None,
        held_mb: int = 0,
    ) -> None:
        self._layout = layout
        self._manifest = manifest
        self._session = session
        self._held_mb = held_mb
        self._stores: dict[str, ChunkStore] = {}
        self._declared: dict[int, VectorSpace] = {}

    def space(self, generation: int) -> VectorSpace:
        """Where the vectors of a generation are, one being made included once it is declared."""
        return self._declared.get(generation) or space_of(self._layout, self._manifest, generation)

    def declared(self, generation: int) -> VectorSpace | None:
        """What was declared of a generation that is being made; None: it is not known where it writes."""
        return self._declared.get(generation)

    def declare(self, generation: int, space: VectorSpace) -> None:
        """Say where a generation that is being made has its vectors."""
        self._declared[generation] = space

    def at(self, generation: int) -> ChunkReader:
        return self.store(self.space(generation)).at(generation)

    def writer(self) -> "ChunkTablesWriter":
        return ChunkTablesWriter(self, self._layout)

    def close(self) -> None:
        for store in self._stores.values():
            store.close()
        self._stores.clear()

    def store(self, space: VectorSpace, *, create: bool = False) -> ChunkStore:
        """The store of one model's generations; with *create*, made where it is not there."""
        from indexes.stores.lance.store import LanceChunkStore

        if space.table not in self._stores:
            make = LanceChunkStore.create if create else LanceChunkStore
            self._stores[space.table] = make(
                self._layout.lance,
                dim=space.model.dim,
                table=space.table,
                session=self._session,
                held_mb=self._held_mb,
                optional=space.model.optional_columns,
            )
        return self._stores[space.table]

    def drop(self, table: str, *, kept: Iterable[int]) -> None:
        if table in {self.space(number).table for number in kept}:
            return
        store = self._stores.pop(table, None)
        if store is not None:
            store.close()
        remove_tree(self._layout.lance / f"{table}.lance")


class ChunkTablesWriter:
    """Keeps the port ChunkWriter; a generation that changes the model begins with an empty table."""

    def __init__(self, tables: ChunkTables, layout: IndexLayout) -> None:
        self._tables = tables
        self._layout = layout
        self._staged: ChunkWriter | None = None
        self._shares_base = False

    def stage(self, generation: int, *, base: int) -> None:
        """Make the generation's table equal to *base*, or empty where *base* has another."""
        space = self._tables.space(generation)
        shared = self._shares_base = self._tables.space(base).table == space.table
        self._staged = self._tables.store(space, create=not shared).writer()
        self._staged.stage(generation, base=base if shared else 0)

    def apply(self, upserts: Iterable[tuple[Chunk, ChunkVectors]], deletes: Collection[str]) -> None:
        self._writer().apply(upserts, deletes)

    def finish(self, generation: int, *, before: StoreState | None = None) -> StoreState:
        return self._writer().finish(generation, before=before if self._shares_base else None)

    def abort(self, generation: int, *, base: int) -> None:
        """Leave no trace of the staged generation, nor of a table that it began."""
        # What declared nothing was not frozen, and has written nothing beyond the table of its base.
        space = self._tables.declared(generation) or self._tables.space(base)
        if space.table == table_begun_by(generation):
            others = (number for number in generation_numbers(self._layout) if number != generation)
            self._tables.drop(space.table, kept=others)
        else:
            self._tables.store(space).writer().abort(generation, base=base)

    def prune(self, *, keep: Collection[int]) -> None:
        spaces = {number: self._tables.space(number) for number in sorted(keep)}
        for space in {space.table: space for space in spaces.values()}.values():
            mine = [number for number, held in spaces.items() if held.table == space.table]
            self._tables.store(space).writer().prune(keep=mine)
        for table in sorted(_tables_in(self._layout.lance)):
            self._tables.drop(table, kept=keep)

    def maintain(self, generation: int, *, fence: Callable[[], None]) -> None:
        self._tables.store(self._tables.space(generation)).writer().maintain(generation, fence=fence)

    def _writer(self) -> ChunkWriter:
        if self._staged is None:
            raise ConfigError("nothing is staged: stage() comes first", subject="chunks")
        return self._staged


def drop_encoders(layout: IndexLayout, manifest: IndexManifest) -> None:
    """Remove query encoders that no generation names; that of a run under way is among them."""
    named = {space_of(layout, manifest, number).encoder for number in generation_numbers(layout)}
    for folder in sorted(layout.root.glob("encoder-*")):
        if folder.name not in named:
            remove_tree(folder)


def _tables_in(lance: Path) -> set[str]:
    """Tables that a change of model has made; the first one stays, so that an index is known by it."""
    return {path.stem for path in lance.glob("chunks-*.lance") if _TABLE.fullmatch(path.stem)}
