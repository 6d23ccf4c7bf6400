"""Empty stores of every backend. A new backend is one more branch here, and nothing in the suites.

What the suites hold every store to stands in indexes/ports.py.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from indexes.ports import ChunkStore, GraphStore
from indexes.stores.lance import staging
from indexes.stores.lance.store import LanceChunkStore, LanceGraphStore
from indexes.stores.lance.tables import OPTIONAL
from tests.fakes.graph_samples import DIM
from tests.fakes.memory_stores import MemoryChunkStore, MemoryGraphStore

_HELD_MB = {"lance": 0, "held": 64, "merged": 0}
"""The same store: as a cold process reads it, as one that lives long, and written as by large changes."""

_NEO4J = pytest.param("neo4j", marks=pytest.mark.neo4j)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Read held tables where rows are read, merge where they are written, and both across generations."""
    does = metafunc.module.__name__.rpartition("_")[2]
    ways = {"writing": ("merged",), "generations": ("held", "merged"), "changes": ("merged",)}
    kinds = ("memory", "lance", *ways.get(does, ("held",)))
    given = {mark.args[0] for mark in metafunc.definition.iter_markers("parametrize")}
    if "chunk_store" in set(metafunc.fixturenames) - given:
        metafunc.parametrize("chunk_store", kinds, indirect=True)
    if "graph_store" in set(metafunc.fixturenames) - given:
        metafunc.parametrize("graph_store", (*kinds, _NEO4J), indirect=True)


@pytest.fixture
def chunk_store(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[ChunkStore]:
    """An empty chunk store."""
    if request.param == "merged":
        monkeypatch.setattr(staging, "most_replaced", lambda _rows: -1)
    store: ChunkStore
    if request.param == "memory":
        store = MemoryChunkStore(dim=DIM)
    else:
        store = LanceChunkStore.create(tmp_path / "index", dim=DIM, held_mb=_HELD_MB[request.param])
    yield store
    store.close()


@pytest.fixture(params=["memory", "lance", "held"])
def token_store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[ChunkStore]:
    """An empty chunk store whose chunks have token vectors."""
    store: ChunkStore
    if request.param == "memory":
        store = MemoryChunkStore(dim=DIM)
    else:
        held = _HELD_MB[request.param]
        store = LanceChunkStore.create(tmp_path / "index", dim=DIM, held_mb=held, optional=OPTIONAL)
    yield store
    store.close()


@pytest.fixture
def graph_store(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[GraphStore]:
    """An empty graph store."""
    if request.param == "merged":
        monkeypatch.setattr(staging, "most_replaced", lambda _rows: -1)
    store: GraphStore
    if request.param == "memory":
        store = MemoryGraphStore()
    elif request.param in _HELD_MB:
        store = LanceGraphStore.create(tmp_path / "index", held_mb=_HELD_MB[request.param])
    else:
        store = request.getfixturevalue("neo4j_graph_store_factory")()
    yield store
    store.close()
