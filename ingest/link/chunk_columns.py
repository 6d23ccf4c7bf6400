"""What comparing chunks needs to know of them, in columns, and their vectors, read a part at a time."""

import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from ingest.link.nearest import Corpus, Floats, Ints, all_others
from schemas.nodes import Chunk
from schemas.text import encoded_text

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
        (chunk.id, chunk.doc, chunk.source, _hash(_section_key(chunk)), _hash(encoded_text_of(chunk)))
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
    return _in_id_order(found)


def _section_key(chunk: Chunk) -> str:
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
    return _in_id_order(ChunkColumns(**columns))


def _in_id_order(chunks: ChunkColumns) -> ChunkColumns:
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


Vectors = Callable[[], Iterator[tuple[Sequence[str], Floats]]]
"""Begins to read vectors, a part at a time: distinct ids, and shape (n, dim).

Of a chunk that comes in several parts the first counts; one that never comes is like no other. What is new
is asked for first, and only then everything else.
"""


def corpus_of(vectors: Vectors, chunks: ChunkColumns, places: Ints) -> Corpus:
    """Read the chunks at some places, ascending, as far as there are vectors of them, and no further."""
    rows: Floats = np.zeros((len(places), 0), np.float32)
    found = np.zeros(len(places), bool)
    for part in read_at(vectors, chunks, places):
        if not found.any():
            rows = np.empty((len(places), part.vectors.shape[1]), np.float32)
        at = np.searchsorted(places, part.places)
        rows[at], found[at] = part.vectors, True
    if not found.all():
        rows, places = rows[found], places[found]
    return Corpus(places=places, vectors=rows, sections=chunks.sections[places])


def all_but(vectors: Vectors, chunks: ChunkColumns, places: Ints) -> Iterator[Corpus]:
    """Read the chunks at all other places, each once, a part at a time."""
    return read_at(vectors, chunks, all_others(len(chunks.ids), places))


def read_at(vectors: Vectors, chunks: ChunkColumns, places: Ints) -> Iterator[Corpus]:
    """Read the chunks at some places, each once, a part at a time."""
    wanted = np.zeros(len(chunks.ids), bool)
    wanted[places] = True
    if not len(places):
        return
    for ids, found in vectors():
        at, rows = _among(chunks, ids, wanted)
        wanted[at] = False
        if len(at):
            unit = _of_unit_length(found[rows])
            yield Corpus(places=at, vectors=unit, sections=chunks.sections[at])
        if not wanted.any():
            return


def _among(chunks: ChunkColumns, ids: Sequence[str], wanted: npt.NDArray[np.bool_]) -> tuple[Ints, Ints]:
    """Places of those of *ids* that are wanted, ascending, and their numbers."""
    named = np.array([id_.encode() for id_ in ids])
    at = np.minimum(np.searchsorted(chunks.ids, named), len(chunks.ids) - 1)
    rows = np.flatnonzero((chunks.ids[at] == named) & wanted[at])
    rows = rows[np.argsort(at[rows])]
    return at[rows], rows


def _of_unit_length(vectors: Floats) -> Floats:
    """A chunk whose vector is zero is like no other."""
    lengths: Floats = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))[:, None]
    np.divide(vectors, lengths, out=vectors, where=lengths > 0)
    return vectors
