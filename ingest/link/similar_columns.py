"""What is known of the nearest chunks, as bytes and back: `load_similarity(dump_similarity(s)) == s`."""

import io
import json
from dataclasses import fields

import numpy as np

from ingest.link.chunk_columns import ChunkColumns
from ingest.link.nearest import NearestChunks
from ingest.link.similarity import Rule, Similarity
from schemas.records import from_record, to_record

_RULE = "rule"


def dump_similarity(similarity: Similarity) -> bytes:
    """Return equal bytes for equal content: an uncompressed NumPy archive, one array a column."""
    columns = {
        **{f.name: getattr(similarity.chunks, f.name) for f in fields(ChunkColumns)},
        **{f.name: getattr(similarity.neighbours, f.name) for f in fields(NearestChunks)},
    }
    file = io.BytesIO()
    rule = json.dumps(to_record(similarity.rule), sort_keys=True)
    np.savez(file, allow_pickle=False, **{_RULE: np.array(rule)}, **columns)
    return file.getvalue()


def load_similarity(data: bytes) -> Similarity:
    """Read it back."""
    with np.load(io.BytesIO(data), allow_pickle=False) as columns:
        return Similarity(
            rule=from_record(Rule, json.loads(str(columns[_RULE]))),
            chunks=ChunkColumns(**{f.name: columns[f.name] for f in fields(ChunkColumns)}),
            neighbours=NearestChunks(**{f.name: columns[f.name] for f in fields(NearestChunks)}),
        )
