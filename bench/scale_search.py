"""Searches with the vector index beside exact ones, over what the runs have left; prints one JSON object.

python -m bench.scale_search WORK
"""

import argparse
import json
import time
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from statistics import median
from typing import Any

import lancedb
import numpy as np

from bench.comparison import Figures
from bench.scaled_pages import DIM
from indexes.layout import IndexLayout
from indexes.ports import ChunkReader, Vector
from indexes.publish.current import read_current
from indexes.stores.lance.store import LanceChunkStore
from indexes.stores.lance.tables import CHUNKS
from schemas.evidence import SearchField
from schemas.nodes import Chunk

QUERIES = 100
TOP_K = 10
NOISE = 0.6
"""How far a question lies from the passage that answers it."""


def main() -> None:
    """Ask every question both ways."""
    parser = argparse.ArgumentParser()
    parser.add_argument("work", type=Path)
    layout = IndexLayout(parser.parse_args().work / "index")
    reader = LanceChunkStore(layout.lance, dim=DIM).at(read_current(layout.root))
    table = lancedb.connect(str(layout.lance)).open_table(CHUNKS)
    every = table.count_rows() // QUERIES
    asked = list(islice(reader.scan(), 0, None, every))[:QUERIES]
    held = {"rows": table.count_rows(), "indexes": indexes(table)}
    print(json.dumps({**held, **compare(reader, table, asked)}))


def indexes(table: lancedb.table.Table) -> dict[str, int]:
    """Rows that each vector index and each full text index lacks."""
    kinds = ("Ivf", "FTS")
    return {i.name: i.num_unindexed_rows for i in table.list_indices() if i.index_type.startswith(kinds)}


def compare(reader: ChunkReader, table: lancedb.table.Table, asked: list[Chunk]) -> Figures:
    """Recall of the best ten, and median milliseconds of every kind of search."""
    questions = _questions(reader, asked)
    found, indexed = _timed(
        lambda vector: [h.chunk_id for h in reader.search_vector(SearchField.TEXT, vector, top_k=TOP_K)],
        questions,
    )
    wanted, exact = _timed(lambda vector: _exact(table, vector), questions)
    common = [len(set(a) & set(b)) for a, b in zip(found, wanted, strict=True)]
    words = [" ".join(chunk.text.split()[:6]) for chunk in asked]
    _, text = _timed(
        lambda query: [h.chunk_id for h in reader.search_text(SearchField.TEXT, query, top_k=TOP_K)], words
    )
    return {
        "recall_at_10": round(sum(common) / (TOP_K * len(asked)), 4),
        "milliseconds": {"vector index": indexed, "exact": exact, "full text": text},
    }


def _questions(reader: ChunkReader, asked: list[Chunk]) -> list[Vector]:
    rng = np.random.default_rng(1)
    stored = reader.vectors([chunk.id for chunk in asked])
    drawn = rng.standard_normal((len(asked), DIM)).astype(np.float32)
    away = NOISE * drawn / np.linalg.norm(drawn, axis=1, keepdims=True)
    near = np.stack([stored[chunk.id].text for chunk in asked]) + away
    return list((near / np.linalg.norm(near, axis=1, keepdims=True)).astype(np.float32))


def _exact(table: lancedb.table.Table, vector: Vector) -> list[str]:
    query = table.search(vector, vector_column_name="text_vector").distance_type("cosine")
    found: list[str] = (
        query.bypass_vector_index().select(["id", "_distance"]).limit(TOP_K).to_arrow()["id"].to_pylist()
    )
    return found


def _timed(search: Callable[[Any], list[str]], questions: Sequence[object]) -> tuple[list[list[str]], float]:
    answers, seconds = [], []
    for question in questions:
        start = time.monotonic()
        answers.append(search(question))
        seconds.append(time.monotonic() - start)
    return answers, round(1000 * median(seconds), 1)


if __name__ == "__main__":
    main()
