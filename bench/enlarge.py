"""An index several times as large as another, for benchmarks: its rows again under other ids, texts mixed.

Done column by column in Arrow, through the store's own staging; the hashes of rows are left as they were, so
that such an index is for searching and not for `verify`.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import lancedb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bench.scaled_pages import DIM
from indexes.layout import IndexLayout, dump_manifest, load_manifest
from indexes.places import write_durably
from indexes.publish.current import read_current, write_current
from indexes.publish.generation import GenerationManifest, dump_generation
from indexes.stores.lance.search_indexes import refresh_vector_indexes
from indexes.stores.lance.staging import StagedTable
from indexes.stores.lance.tables import CHUNKS, EDGES, NODES
from indexes.table_files import tag_of
from indexes.wiring import create_stores, open_authority_store
from schemas.settings import Settings
from tests.fakes.exported_encoder import place_exported_encoder

GENERATION, AS_OF = 1, "2026-01-31T12:00:00+00:00"
ROWS = 5_000
_IDS = re.compile(r"(page|section|chunk|edge):([a-z2-7]{25})[a-z2-7]")
"""Ids that each copy has of its own; entities and tools are shared."""


def enlarge(small: Path, large: Path, *, copies: int) -> Path:
    """Write *large* with the rows of *small* and *copies* - 1 more of each."""
    old, new = IndexLayout(small), IndexLayout(large)
    manifest, generation = load_manifest(old), read_current(small)
    create_stores(new, manifest, Settings())
    place_exported_encoder(new.encoder)
    for name in (CHUNKS, NODES, EDGES):
        table = lancedb.connect(str(old.lance)).open_table(name)
        table.checkout(tag_of(generation))
        database = lancedb.connect(str(new.lance))
        prepare = refresh_vector_indexes if name == CHUNKS else lambda _table, _address: None
        staged = StagedTable(database, name, table.schema, prepare=prepare, small_rows=name != CHUNKS)
        staged.stage(GENERATION, base=0)
        for number in range(copies):
            staged.apply_batches(_copy(table, number), ())
        staged.finish(GENERATION)
    write_durably(new.manifest, dump_manifest(manifest))
    described = GenerationManifest(
        generation=GENERATION, base=0, as_of=AS_OF, source="s", run_id="r", plan_sha="0" * 64
    )
    dump_generation(new, described)
    _copy_authority(old, new, generation, copies)
    write_current(large, GENERATION)
    return large


def _copy(table: lancedb.table.Table, number: int) -> Iterator[pa.RecordBatch]:
    for batch in table.search().to_batches(ROWS):
        found = pa.RecordBatch.from_arrays(
            [batch.column(name) for name in table.schema.names], schema=table.schema
        )
        yield _moved(found, number) if number else found


def _moved(batch: pa.RecordBatch, number: int) -> pa.RecordBatch:
    whole = batch.take(pa.array(range(batch.num_rows)))  # a slice would give away all of its values
    arrays = [_column(whole, field, number) for field in batch.schema]
    moved = pa.RecordBatch.from_arrays(arrays, schema=batch.schema)
    if "kind" in batch.schema.names and "props" in batch.schema.names:
        keep = pc.invert(pc.equal(moved.column("id"), batch.column("id")))  # what the copies share is there
        return moved.filter(keep)
    return moved


def _column(batch: pa.RecordBatch, field: pa.Field, number: int) -> pa.Array:
    values = batch.column(field.name)
    if field.name == "text":
        return _mixed(values, number)
    if field.name in ("text_vector", "heading_vector"):
        return pa.FixedSizeListArray.from_arrays(_turned(values.values, number), DIM, mask=values.is_null())
    if field.name in ("anchor_vectors", "caption_vectors"):
        vectors = pa.FixedSizeListArray.from_arrays(_turned(values.values.values, number), DIM)
        return pa.ListArray.from_arrays(values.offsets, vectors)
    if field.type == pa.string():
        return _renamed(values, number)
    if field.type == pa.list_(pa.string()) and field.name == "parent_ids":
        return pa.ListArray.from_arrays(values.offsets, _renamed(values.values, number))
    return values


def _renamed(values: pa.Array, number: int) -> pa.Array:
    """Ids with another last letter, wherever they stand; two that differ in it alone are not among so few."""
    return pc.replace_substring_regex(values, _IDS.pattern, rf"\1:\2{'abcdefghij'[number]}")


def _mixed(texts: pa.Array, number: int) -> pa.Array:
    """The first half of each text, and the second of another."""
    others = texts.take(pa.array((np.arange(len(texts)) + 7 * number) % len(texts)))
    return pc.binary_join_element_wise(
        pc.utf8_slice_codeunits(texts, 0, 300), pc.utf8_slice_codeunits(others, 300, 10_000), " "
    )


def _turned(values: pa.Array, number: int) -> pa.Array:
    """Vectors mirrored in half of their dimensions: near each other as before, and far from the others."""
    signs = np.where(np.random.default_rng(number).random(DIM) < 0.5, -1, 1).astype(np.float32)
    matrix = values.to_numpy(zero_copy_only=False).reshape(-1, DIM) * signs
    return pa.array(matrix.ravel())


def _copy_authority(old: IndexLayout, new: IndexLayout, generation: int, copies: int) -> None:
    table = lancedb.connect(str(old.lance)).open_table(NODES)
    docs = sorted(set(table.search().select(["doc"]).to_arrow().column("doc").to_pylist()))
    known = open_authority_store(old).at(generation).of(docs)
    weights = dict(known)
    for number in range(1, copies):
        renamed = _renamed(pa.array(sorted(known)), number).to_pylist()
        weights |= dict(zip(renamed, (known[doc] for doc in sorted(known)), strict=True))
    open_authority_store(new).put(GENERATION, weights)
