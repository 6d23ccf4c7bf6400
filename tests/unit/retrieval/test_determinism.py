"""The same index and question give the same bytes: over runs, hash seeds, reopened stores, both graphs."""

import json
import os
import subprocess
import sys
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from indexes.reader_parts import locate_reranker
from schemas.errors import ConfigError
from tests.fakes.copies import copy_index
from tests.fakes.governance import governance_documents
from tests.fakes.neo4j_server import Neo4jServer, settings_of
from tests.fakes.small_index import GENERATION

ROOT = Path(__file__).parents[3]
SEEDS = ("0", "1", "2")


@pytest.fixture(scope="module", autouse=True)
def _reranker() -> None:
    try:
        locate_reranker()
    except ConfigError as error:
        pytest.skip(str(error))


def answers(index: Path, runs: int, seed: str, **environment: str) -> dict[str, int]:
    """How often each set of answers came out of a process with that hash seed."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("SITEGRAPH_")}
    result = subprocess.run(
        [sys.executable, "-m", "tests.fakes.bundle_bytes", str(index), str(runs)],
        cwd=ROOT,
        env={**clean, "PYTHONHASHSEED": seed, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr[-3000:]
    lines = (line.split() for line in result.stdout.splitlines())
    return {digest: int(count) for count, digest in lines}


@pytest.fixture(scope="module")
def embedded(folder: Path) -> dict[str, int]:
    """What a process gives that asks everything twice."""
    return answers(folder, 2, SEEDS[0])


@pytest.fixture
def over_neo4j(
    folder: Path, tmp_path: Path, neo4j_server: Neo4jServer, neo4j_graph_store_factory: Callable[..., Any]
) -> tuple[Path, dict[str, str]]:
    """The same index with its generation's graph in Neo4j; chunks and vectors are those of *folder*."""
    other = copy_index(folder, tmp_path / "neo4j")
    manifest = json.loads((other / "index.json").read_text())
    index_id = f"test-{uuid.uuid4().hex}"
    store = neo4j_graph_store_factory(index_id=index_id)
    writer = store.writer()
    documents, edges = governance_documents()
    writer.stage(GENERATION, base=0)
    writer.apply_nodes([node for nodes, _ in documents for node in nodes], ())
    writer.apply_edges(edges, ())
    writer.finish(GENERATION)
    named = {**manifest, "graph": "neo4j", "index_id": index_id}
    (other / "index.json").write_text(json.dumps(named))
    reach = settings_of(neo4j_server)
    return other, reach


def test_two_runs_under_two_hash_seeds_give_the_same_bytes_with_rerank_too(
    folder: Path, embedded: dict[str, int]
) -> None:
    assert list(embedded.values()) == [2]
    assert answers(folder, 1, SEEDS[1]).keys() == embedded.keys()


@pytest.mark.neo4j
def test_the_same_generation_in_neo4j_gives_the_same_bytes(
    embedded: dict[str, int], over_neo4j: tuple[Path, dict[str, str]]
) -> None:
    index, environment = over_neo4j
    assert answers(index, 1, SEEDS[2], **environment).keys() == embedded.keys()


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_a_hundred_runs_under_three_hash_seeds_give_the_same_bytes(folder: Path) -> None:
    found = [answers(folder, 100, seed) for seed in SEEDS]
    assert found[0] == found[1] == found[2]
    assert list(found[0].values()) == [100]


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.neo4j
def test_a_hundred_runs_over_neo4j_give_the_bytes_of_the_embedded_graph(
    embedded: dict[str, int], over_neo4j: tuple[Path, dict[str, str]]
) -> None:
    index, environment = over_neo4j
    for seed in SEEDS:
        found = answers(index, 100, seed, **environment)
        assert (found.keys(), list(found.values())) == (embedded.keys(), [100])
