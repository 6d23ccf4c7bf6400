"""What comparing chunks needs to know of them, as columns, so that a hundred thousand are a few megabytes."""

import hashlib
from collections.abc import Collection, Iterable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from schemas.encoded import encoded_text
from schemas.nodes import Chunk

Texts = npt.NDArray[np.bytes_]
Hashes = npt.NDArray[np.uint64]
Column = npt.NDArray[Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkColumns:
    """Chunks in id order. `texts` are hashes of exactly what was encoded, `sections` of where it stands."""

    ids: Texts
    docs: Texts
    sources: Texts
    sections: Hashes
    texts: Hashes

    def take(self, places: npt.NDArray[np.intp] | npt.NDArray[np.bool_]) -> "ChunkColumns":
        """Some of them, in the order of *places*."""
        return ChunkColumns(**{f.name: getattr(self, f.name)[places] for f in fields(self)})


def columns_of(chunks: Iterable[Chunk]) -> ChunkColumns:
    """Read the columns off the chunks, each id once."""
    rows = [
        (chunk.id, chunk.doc, chunk.source, _hash(section_key(chunk)), _hash(encoded_text_of(chunk)))
        for chunk in chunks
    ]
    ids, docs, sources, sections, texts = zip(*rows, strict=True) if rows else ((), (), (), (), ())
    found = ChunkColumns(
        ids=_bytes(ids),
        docs=_bytes(docs),
        sources=_bytes(sources),
        sections=np.array(sections, np.uint64),
        texts=np.array(texts, np.uint64),
    )
    return in_id_order(found)


def section_key(chunk: Chunk) -> str:
    """Name the section of a chunk: by id, else by document and headings; without those, the document."""
    return chunk.section_id or "\x1f".join((chunk.doc, *chunk.heading_path))


def encoded_text_of(chunk: Chunk) -> str:
    """Exactly what the text vector of a chunk says."""
    return encoded_text(chunk.heading_path, chunk.text)


def joined(parts: Iterable[ChunkColumns]) -> ChunkColumns:
    """Put chunks together in id order; of equal ids the first is kept."""
    every = (columns_of(()), *parts)
    columns = {
        f.name: np.concatenate([getattr(part, f.name) for part in every]) for f in fields(ChunkColumns)
    }
    return in_id_order(ChunkColumns(**columns))


def in_id_order(chunks: ChunkColumns) -> ChunkColumns:
    """Sort by id, as Python sorts texts; of equal ids the first is kept."""
    return chunks.take(np.unique(chunks.ids, return_index=True)[1])


def replace_chunks(
    chunks: ChunkColumns, *, gone: Collection[str], new: Iterable[ChunkColumns]
) -> ChunkColumns:
    """Leave chunks out by id, and take others in, in place of those of the same id: only these are sorted."""
    coming = joined(new)
    leaving = np.union1d(_places(chunks.ids, _bytes(gone)), _places(chunks.ids, coming.ids))
    at = np.searchsorted(chunks.ids, coming.ids)
    at -= np.searchsorted(leaving, at)
    columns = {
        f.name: _put_in(np.delete(getattr(chunks, f.name), leaving), at, getattr(coming, f.name))
        for f in fields(ChunkColumns)
    }
    return ChunkColumns(**columns)


def _places(ids: Texts, wanted: Texts) -> npt.NDArray[np.intp]:
    """Where those of *wanted* are that there are."""
    if not len(ids):
        return np.zeros(0, np.intp)
    at = np.minimum(np.searchsorted(ids, wanted), len(ids) - 1)
    found: npt.NDArray[np.intp] = at[ids[at] == wanted]
    return found


def _put_in(column: Column, at: npt.NDArray[np.intp], values: Column) -> Column:
    """Insert values before some places; texts may be longer than any that is there."""
    return np.insert(column.astype(np.promote_types(column.dtype, values.dtype), copy=False), at, values)


def _bytes(texts: Collection[str]) -> Texts:
    return np.array([text.encode() for text in texts], np.bytes_) if texts else np.zeros(0, "S1")


def _hash(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")
