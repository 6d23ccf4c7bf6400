from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from flows.commit.publish import prune_generations
from flows.run.generations import kept_generations
from flows.run.index import Index
from indexes.layout import IndexLayout, IndexManifest, ModelManifest
from indexes.publish.current import write_current
from indexes.publish.generation import GenerationManifest, dump_generation
from indexes.stores.ledger.tables import generation as generation_table
from schemas.settings import Settings
from tests.fakes.graph_samples import DIM
from tests.fakes.ledger_rows import link_to, make_fragment, make_live, publish, put
from tests.fakes.memory_stores import MemoryChunkStore, MemoryGraphStore


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    """An index that keeps two generations, with its stores in memory."""
    model = ModelManifest(name="test", sha256="0" * 64, dim=DIM, max_tokens=256)
    manifest = IndexManifest(index_id="test", graph="lance", model=model)
    index = Index(layout=IndexLayout(tmp_path), manifest=manifest, settings=Settings(keep_generations=2))
    index.opened_chunks, index.opened_graph = MemoryChunkStore(dim=DIM), MemoryGraphStore()
    yield index
    index.close()


def publish_version(index: Index, version: str, *, base: int) -> str:
    """Publish one page in another version; give the hash of its outbox payload."""
    live = make_live("a", version)
    payload = index.outbox.put(version.encode())
    index.ledger.links.save([(live.fragment_sha, make_fragment("a", [link_to("b", version)]))])
    number = publish(index.ledger, put(live), base=base, payloads=[payload])
    for writer in (index.chunks.writer(), index.graph.writer()):
        writer.stage(number, base=base)
        writer.finish(number)
    manifest = GenerationManifest(
        generation=number, base=base, as_of="2026-03-01", source="site", run_id="r", plan_sha="p"
    )
    dump_generation(index.layout, manifest)
    write_current(index.layout.root, number)
    return payload


def hold(index: Index, name: str) -> None:
    taken = index.ledger.leases.acquire(name, holder="me", now=index.now(), expires_at="9999")
    assert taken is not None


def linked(index: Index) -> list[str]:
    """Versions of the page whose links are indexed."""
    shas = {version: make_live("a", version).fragment_sha for version in "123"}
    return [version for version, sha in shas.items() if index.ledger.links.targets_of([sha])]


def test_pruning_leaves_what_the_kept_generations_need_and_nothing_else(index: Index) -> None:
    payloads = [publish_version(index, version, base=base) for base, version in enumerate("123")]
    hold(index, "index")
    hold(index, "source:site")
    for _ in range(2):
        prune_generations(index, source="site")

        assert kept_generations(index) == (2, 3)
        assert [index.outbox.has(payload) for payload in payloads] == [False, True, True]
        assert linked(index) == ["2", "3"]
        held = [[live.fragment_sha for live in index.ledger.generations.live(n).values()] for n in (2, 3)]
        assert held == [[make_live("a", version).fragment_sha] for version in "23"]


def test_links_are_not_collected_while_another_source_is_parsed(index: Index) -> None:
    for base, version in enumerate("123"):
        publish_version(index, version, base=base)
    hold(index, "source:other")
    prune_generations(index, source="site")

    assert linked(index) == ["1", "2", "3"]


def test_a_rolled_back_generation_is_pruned_no_earlier_than_others(index: Index) -> None:
    payloads = [publish_version(index, version, base=base) for base, version in enumerate("12")]
    index.ledger.generations.roll_back(above=1)
    write_current(index.layout.root, 1)
    payloads.append(publish_version(index, "3", base=1))
    prune_generations(index, source="site")

    assert kept_generations(index) == (1, 3)
    assert all(index.outbox.has(payload) for payload in payloads)
    assert linked(index) == ["1", "2", "3"]


def test_a_generation_kept_by_a_rule_needs_no_plan(index: Index) -> None:
    index.settings = replace(index.settings, keep="yearly=2")
    payloads = [publish_version(index, version, base=base) for base, version in enumerate("123")]
    first = index.ledger.generations.get(1)
    assert first is not None
    with index.ledger.engine.begin() as connection:
        last_year = generation_table.c.generation == 1
        connection.execute(
            generation_table.update().where(last_year).values(as_of="2025-03-01T00:00:00+00:00")
        )
    hold(index, "index")
    hold(index, "source:site")
    prune_generations(index, source="site")

    assert kept_generations(index) == (1, 2, 3)
    assert [index.outbox.has(payload) for payload in payloads] == [False, True, True]
    assert linked(index) == ["1", "2", "3"]
