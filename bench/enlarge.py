"""An index several times as large as another, for benchmarks: its rows again under other ids, texts mixed."""

import base64
from collections.abc import Iterator
from dataclasses import fields, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

from bench.scaled_pages import DIM
from indexes.layout import IndexLayout
from indexes.manifest import dump_manifest, load_manifest
from indexes.ports import ChunkReader, ChunkVectors
from indexes.publish.current import read_current, write_current, write_durably
from indexes.publish.generation import GenerationManifest, dump_generation
from indexes.wiring import create_stores, open_authority_store, open_chunk_store, open_graph_store
from schemas.nodes import Chunk
from tests.fakes.exported_encoder import place_exported_encoder

GENERATION = 1
BATCH = 20_000
_KEPT = ("entity:", "tools:")
_IDS = ("id", "doc", "src", "dst", "chunk", "section_id", "region_id", "parent_ids")


def enlarge(small: Path, large: Path, *, copies: int) -> Path:
    """Write *large* with the rows of *small* and *copies* - 1 more of each; entities are shared by all."""
    old, new = IndexLayout(small), IndexLayout(large)
    manifest, generation = load_manifest(old), read_current(small)
    create_stores(new, manifest, {})
    place_exported_encoder(new.encoder)
    _copy_chunks(
        open_chunk_store(old, manifest).at(generation), open_chunk_store(new, manifest).writer(), copies
    )
    graph, writer = (
        open_graph_store(old, manifest, {}).at(generation),
        open_graph_store(new, manifest, {}).writer(),
    )
    writer.stage(GENERATION, base=0)
    for number in range(copies):
        nodes = [_moved(node, number) for node in graph.scan_nodes() if number == 0 or not _is_kept(node.id)]
        writer.apply_nodes(nodes, ())
        writer.apply_edges(
            [_moved(edge, number) for edge in graph.scan_edges() if number == 0 or not _is_kept(edge.src)], ()
        )
    writer.finish(GENERATION)
    known = open_authority_store(old).at(generation).of([node.doc for node in graph.scan_nodes()])
    weights = {_id(doc, number): value for doc, value in known.items() for number in range(copies)}
    open_authority_store(new).put(GENERATION, weights)
    write_durably(new.manifest, dump_manifest(manifest))
    dump_generation(
        new,
        GenerationManifest(
            generation=GENERATION,
            base=0,
            as_of="2026-01-31T12:00:00+00:00",
            source="s",
            run_id="r",
            plan_sha="0" * 64,
        ),
    )
    write_current(large, GENERATION)
    return large


def _copy_chunks(reader: ChunkReader, writer: Any, copies: int) -> None:
    rows = list(reader.scan())
    writer.stage(GENERATION, base=0)
    for number in range(copies):
        signs = np.where(np.random.default_rng(number).random(DIM) < (0.5 if number else 0), -1, 1).astype(
            np.float32
        )
        for start in range(0, len(rows), BATCH):
            part = rows[start : start + BATCH]
            vectors = reader.vectors([row.id for row in part])
            writer.apply(_pairs(part, rows, vectors, number, start, signs), ())
    writer.finish(GENERATION)


def _pairs(
    part: list[Chunk], rows: list[Chunk], vectors: Any, number: int, start: int, signs: Any
) -> Iterator[tuple[Chunk, ChunkVectors]]:
    for at, row in enumerate(part, start=start):
        other = rows[(at + 7919 * number) % len(rows)].text
        text = row.text if number == 0 else f"{row.text[: len(row.text) // 2]} {other[len(other) // 2 :]}"
        held = vectors[row.id]
        turned = ChunkVectors(**{f.name: getattr(held, f.name) * signs for f in fields(ChunkVectors)})
        yield replace(_moved(row, number), text=text), turned


def _moved(value: Any, number: int) -> Any:
    """The same node, edge or chunk with its ids in another copy."""
    if number == 0:
        return value
    named = {name: getattr(value, name) for name in _IDS if getattr(value, name, None) is not None}
    return replace(
        value,
        **{
            name: tuple(_id(one, number) for one in found) if isinstance(found, tuple) else _id(found, number)
            for name, found in named.items()
        },
    )


def _id(name: str, number: int) -> str:
    if number == 0 or _is_kept(name):
        return name
    kind, _, _ = name.partition(":")
    digest = blake2b(f"{number}|{name}".encode(), digest_size=16).digest()
    return f"{kind}:{base64.b32encode(digest).decode().lower().rstrip('=')}"


def _is_kept(name: str) -> bool:
    return name.startswith(_KEPT)
