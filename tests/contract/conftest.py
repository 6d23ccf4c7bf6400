"""Empty stores of every backend. A new backend is one more branch here, and nothing in the suites.

What the suites hold every store to stands in indexes/ports.py.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from indexes.ports import ChunkStore, GraphStore
from indexes.stores.lance import staging
from indexes.stores.lance.store import LanceChunkStore, LanceGraphStore
from indexes.stores.memory import MemoryChunkStore, MemoryGraphStore
from tests.fakes.graph_samples import DIM

_HELD_MB = {"lance": 0, "held": 64, "merged": 0}
"""The same store: as a cold process reads it, as one that lives long, and written as by large changes."""


@pytest.fixture(params=["memory", "lance", "held", "merged"])
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
        store = LanceChunkStore.create(tmp_path / "index", dim=DIM, held_mb=held, tokens=True)
    yield store
    store.close()


@pytest.fixture(params=["memory", "lance", "held", "merged", pytest.param("neo4j", marks=pytest.mark.neo4j)])
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
