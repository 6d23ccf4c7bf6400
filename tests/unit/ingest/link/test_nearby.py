"""Which passages are read to compare some new ones with all."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest

from ingest.link import similarity
from ingest.link.chunk_columns import ChunkColumns, Hashes, columns_of, corpus_of
from ingest.link.nearest import Corpus, Floats
from ingest.link.similarity import CodedVectors, near_to
from tests.fakes.graph_samples import make_chunk

PASSAGES: ChunkColumns = columns_of(make_chunk(f"text {number}") for number in range(5))
IDS = [id_.decode() for id_ in PASSAGES.ids.tolist()]
VECTORS = np.array([[1, 0, 0], [5, 1, 0], [0.1, 0.1, 0], [0, 3, 0], [0, 0, 0]], np.float32)
NEW = np.array([0])


@dataclass
class ExactCodes:
    """Codes that are the vectors themselves."""

    of_text: dict[int, Floats] = field(default_factory=dict)

    def clear(self) -> None:
        self.of_text.clear()

    def add(self, texts: Hashes, vectors: Floats) -> None:
        self.of_text.update(zip(texts.tolist(), vectors, strict=True))

    def near(self, vectors: Floats, cosine: float) -> tuple[Hashes, Hashes]:
        near = [text for text, vector in self.of_text.items() if (vectors @ vector).max() >= cosine]
        return np.array(sorted(self.of_text), np.uint64), np.array(near, np.uint64)


@dataclass
class Store:
    """The passages' vectors, and which of them were read one by one; None: all in order."""

    read: list[Sequence[str] | None] = field(default_factory=list)

    def all(self) -> Iterator[tuple[Sequence[str], Floats]]:
        self.read.append(None)
        yield IDS, VECTORS.copy()

    def look_up(self, ids: Sequence[str]) -> Iterator[tuple[Sequence[str], Floats]]:
        self.read.append(ids)
        yield ids, VECTORS[[IDS.index(id_) for id_ in ids]]


@pytest.fixture(autouse=True)
def _few_may_be_read_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(similarity, "MOST_LOOKED_UP", 1 / 2)


def first() -> Corpus:
    """The new passage."""
    return corpus_of(lambda: iter([(IDS, VECTORS.copy())]), PASSAGES, NEW)


def coded(*places: int) -> ExactCodes:
    """Codes of the passages at some places."""
    held, unit = (
        ExactCodes(),
        corpus_of(lambda: iter([(IDS, VECTORS.copy())]), PASSAGES, np.array(places, np.int64)),
    )
    held.add(PASSAGES.texts[unit.places], unit.vectors)
    return held


def read(store: Store, held: ExactCodes, least: int) -> list[list[int]]:
    """The places that are read for the new passage."""
    parts = near_to(
        first(), CodedVectors(codes=held, look_up=store.look_up), store.all, PASSAGES, NEW, least=least
    )
    return [part.places.tolist() for part in parts]


@pytest.mark.parametrize(("least", "near"), [(9_000, [1]), (7_071, [1, 2]), (7_073, [1])])
def test_those_are_read_that_may_be_near_whatever_their_length(least: int, near: list[int]) -> None:
    store = Store()
    assert read(store, coded(0, 1, 2, 3, 4), least) == [near]
    assert store.read == [[IDS[place] for place in near]]


def test_what_has_no_code_is_read_too_and_gets_one() -> None:
    held = coded(0, 1, 2, 4)
    assert read(Store(), held, 9_000) == [[1, 3]]
    assert held.of_text.keys() == set(PASSAGES.texts.tolist())
    assert read(Store(), held, 9_000) == [[1]]


def test_where_many_have_no_code_all_are_read_in_order() -> None:
    store, held = Store(), coded()
    assert read(store, held, 9_000) == [[1, 2, 3, 4]]
    assert store.read == [None]
    assert held.of_text.keys() == set(PASSAGES.texts[1:].tolist())


def test_what_the_store_has_no_vector_of_is_like_no_other() -> None:
    reader = CodedVectors(codes=coded(0, 1, 2, 4), look_up=lambda _ids: iter(()))
    assert list(near_to(first(), reader, Store().all, PASSAGES, NEW, least=9_000)) == []


def test_for_no_passage_nothing_is_read() -> None:
    none = Corpus(places=NEW[:0], vectors=np.zeros((0, 0), np.float32), sections=PASSAGES.sections[:0])
    store = Store()
    reader = CodedVectors(codes=coded(), look_up=store.look_up)
    assert list(near_to(none, reader, store.all, PASSAGES, NEW, least=9_000)) == []
    assert store.read == []
