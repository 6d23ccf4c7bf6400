"""What the stores hold, compared with rows and vectors derived again, and with what a search finds."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from flows.run.contexts import load_fragment
from flows.run.index import Index
from indexes.embed.pending import text_input
from indexes.frozen_plan import own_words
from indexes.ports import ChunkReader, ChunkVectors, TokenVectors, Vector, VectorCache
from indexes.publish.files import Damage
from indexes.publish.generation import load_generation
from indexes.stores.ledger.fragment_rows import damaged_fragment_rows
from ingest.link.naming import stated_names
from ingest.link.nearest import Floats
from runtime.progress import StageProgress
from schemas.batches import batched
from schemas.errors import DamageFound
from schemas.evidence import Hit, SearchField
from schemas.fragment import GraphFragment
from schemas.ids import sha256_hex
from schemas.names import Name
from schemas.nodes import Chunk

Record = Mapping[str, Any]

_SHOWN = 60
"""Characters of a value that a difference shows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deviation:
    """One row, document or vector that is not what its bytes give; `doc` is the document it belongs to."""

    table: str
    id: str
    what: str
    doc: str = ""


def compare_rows(table: str, held: Iterable[Record], derived: Iterable[Record]) -> Iterator[Deviation]:
    """Yield what differs between two streams of records, each in id order."""
    left, right = iter(held), iter(derived)
    one, other = next(left, None), next(right, None)
    while one is not None or other is not None:
        if other is None or (one is not None and one["id"] < other["id"]):
            assert one is not None
            yield _difference(table, one, "is in the store, and its bytes do not give it")
            one = next(left, None)
        elif one is None or other["id"] < one["id"]:
            yield _difference(table, other, "is missing: its bytes give it")
            other = next(right, None)
        else:
            if one != other:
                yield _difference(table, one, differing_fields(one, other))
            one, other = next(left, None), next(right, None)


def differing_fields(held: Record, derived: Record) -> str:
    """Say which fields differ, and how the first of them does."""
    names = [name for name in sorted({*held, *derived}) if held.get(name) != derived.get(name)]
    first = names[0]
    others = f", and {', '.join(names[1:])}" if len(names) > 1 else ""
    return f"{first} is {_shown(held.get(first))}, its bytes give {_shown(derived.get(first))}{others}"


def _difference(table: str, record: Record, what: str) -> Deviation:
    return Deviation(table=table, id=record["id"], what=what, doc=record.get("doc") or "")


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


LEAST = 0.9999
"""Cosine of two encodings of one text: the batch moves it by up to 2e-7 (docs/graph.md), another arithmetic,
such as a GPU's, by up to 3e-5; a flipped bit of an exponent, or the vector of another text, by far more.
"""
_NAMES = ("text", "heading", "anchors", "captions")


class SettledVectors:
    """Keeps the port VectorCache over *fresh*; of a text that the store has, gives the store's vector where
    both are near enough.

    So likeness of passages is decided by the very numbers that decided it before, and a cosine at the edge of
    a rounding makes no difference; vectors themselves are compared by `compare_vectors`.
    """

    def __init__(self, fresh: VectorCache, reader: ChunkReader) -> None:
        self.fresh = fresh
        self._reader = reader

    def missing(self, texts: Iterable[str]) -> tuple[str, ...]:
        return self.fresh.missing(texts)

    def put(self, texts: Collection[str], vectors: Vector, tokens: Sequence[TokenVectors] = ()) -> None:
        self.fresh.put(texts, vectors, tokens)

    def get(self, texts: Collection[str]) -> Mapping[str, Vector]:
        found = dict(self.fresh.get(texts))
        ids = {text: id_ for text in found if (id_ := self._ids.get(sha256_hex(text)))}
        stored = self._reader.vectors(ids.values())
        for text, id_ in ids.items():
            if are_near(stored[id_].text, found[text]):
                found[text] = stored[id_].text
        return found

    def tokens(self, texts: Collection[str]) -> Mapping[str, TokenVectors]:
        return self.fresh.tokens(texts)

    @cached_property
    def _ids(self) -> Mapping[str, str]:
        """A chunk of each text that the store has, by the hash of the text."""
        return {sha256_hex(text_input(chunk)): chunk.id for chunk in self._reader.scan()}


def are_near(held: Vector, derived: Vector) -> bool:
    """Whether two unit vectors of one text say the same; one that is not finite says nothing."""
    if held.shape != derived.shape:
        return False
    return bool(np.isfinite(held).all()) and float(held @ derived) >= LEAST


def compare_vectors(
    chunks: Sequence[Chunk], held: Mapping[str, ChunkVectors], derived: Mapping[str, ChunkVectors]
) -> Iterator[Deviation]:
    """Yield the vectors of chunks that are not what their texts give; of chunks in both alone."""
    for chunk in chunks:
        if chunk.id not in held or chunk.id not in derived:
            continue
        for name in _NAMES:
            what = _fault(getattr(held[chunk.id], name), getattr(derived[chunk.id], name))
            if what:
                yield Deviation(table="vectors", id=chunk.id, what=f"{name}: {what}", doc=chunk.doc)


def _fault(held: Vector, derived: Vector) -> str | None:
    if held.shape != derived.shape:
        return f"shape {held.shape}, its text gives {derived.shape}"
    rows: tuple[Floats, Floats] = (np.atleast_2d(held), np.atleast_2d(derived))
    if not np.isfinite(rows[0]).all():
        return "not finite"
    cosines = (rows[0] * rows[1]).sum(axis=1)
    if len(cosines) and float(cosines.min()) < LEAST:
        return f"cosine {float(cosines.min()):.4f} with what its text gives, {LEAST} at least"
    return None


_PAGE = 200
_FIRST, _WIDER = 10, 20
"""Hits that are asked for first, and by how many times more where a chunk is not among them: others may say
the same, as a footer does, and all of them come before it by id."""

_OWN_SCORE = 0.999

Search = Callable[[int], Sequence[Hit]]


def search_damage(index: Index, generation: int, progress: StageProgress) -> Iterator[Damage]:
    """Yield the chunks that search does not find, and documents of which the ledger says something else."""
    reader = index.chunks.at(generation)
    total = load_generation(index.layout, generation).passages
    for chunk, vector in progress.over("search", _with_vectors(reader), total=total):
        yield from _not_found(reader, chunk, vector, total)
    yield from _ledger_rows(index, generation, progress)


def _with_vectors(reader: ChunkReader) -> Iterator[tuple[Chunk, Vector]]:
    for part in batched(reader.scan(), _PAGE):
        vectors = reader.vectors([chunk.id for chunk in part])
        yield from ((chunk, vectors[chunk.id].text) for chunk in part)


def _not_found(reader: ChunkReader, chunk: Chunk, vector: Vector, total: int) -> Iterator[Damage]:
    def by_vector(top_k: int) -> Sequence[Hit]:
        return reader.search_vector(SearchField.TEXT, vector, top_k=top_k)

    hit = _find(chunk.id, by_vector, total)
    if hit is None or hit.score < _OWN_SCORE:
        yield chunk.id, "chunk is not found by its own vector"
    words = own_words(chunk.text)
    if not words:
        return

    def by_words(top_k: int) -> Sequence[Hit]:
        return reader.search_text(SearchField.TEXT, " ".join(words), top_k=top_k)

    if _find(chunk.id, by_words, total) is None:
        yield chunk.id, f"chunk is not found by its own words: {' '.join(words)}"


def _find(id_: str, search: Search, total: int) -> Hit | None:
    """Look for a chunk among ever more hits, up to all there are."""
    top_k = _FIRST
    while True:
        hits = search(top_k)
        found = next((hit for hit in hits if hit.chunk_id == id_), None)
        if found is not None or len(hits) < top_k or top_k >= total:
            return found
        top_k = min(total, top_k * _WIDER)


def _ledger_rows(index: Index, generation: int, progress: StageProgress) -> Iterator[Damage]:
    live = {one.fragment_sha: one.uri for one in index.ledger.generations.live(generation).values()}
    for part in fragments_of(index, generation, progress):
        for sha in sorted(damaged_fragment_rows(index.ledger, part)):
            yield live[sha], "what the ledger knows of its links or names is not what it says"


def fragments_of(
    index: Index, generation: int, progress: StageProgress
) -> Iterator[Mapping[str, tuple[GraphFragment, tuple[Name, ...]]]]:
    """Yield the parsed documents of a generation with their names, some at a time; those that are whole."""
    live = index.ledger.generations.live(generation).values()
    for part in batched(sorted({one.fragment_sha for one in live} - {""}), _PAGE):
        found = {}
        for sha in progress.over("ledger", part, total=len(part)):
            with suppress(DamageFound):  # told by whoever compares the parsed documents
                fragment = load_fragment(index, sha)
                found[sha] = (fragment, stated_names(fragment))
        yield found
