"""A retriever that is held: threads, generations that come and go, failures, and its async twin."""

import asyncio
import re
import shutil
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from lancedb.table import Table

from indexes import wiring
from indexes.following import RETRY_SECONDS, FollowedIndex
from indexes.layout import IndexLayout
from indexes.publish.current import write_current
from indexes.publish.generation import dump_generation, load_generation
from indexes.stores.lance import scan
from indexes.stores.lance.store import LanceChunkStore
from indexes.wiring import OpenedStores, Readers, open_readers, readers_of
from retrieval.evidence import build_retriever, find_evidence
from retrieval.live import LiveRetriever, open_async_retriever, open_retriever
from retrieval.question.query import build_query
from schemas.errors import ConfigError, StoreUnavailable
from schemas.evidence import ContextBundle
from schemas.settings import Settings
from tests.fakes.next_generation import publish_next
from tests.fakes.small_index import Document, page

HOW_TO = Path(__file__).parents[3] / "docs" / "how-to" / "embed-in-a-service.md"
ASKED = build_query("what is kept in the archive")


def edition(number: int) -> tuple[Document, ...]:
    """Three pages that all say which edition they are of."""
    return tuple(
        page(name, {f"Archive {name}": f"Edition {number}: the archive keeps {name}."})
        for name in ("boxes", "tapes", "papers")
    )


def editions(bundle: ContextBundle) -> set[int]:
    """The generations that the parts of a bundle are of; edition N is what generation N holds."""
    texts = [*(one.text for one in bundle.evidence), *(one.gist for one in bundle.summaries)]
    return {bundle.generation, *(int(n) for text in texts for n in re.findall(r"Edition (\d+)", text))}


def copy_index(folder: Path, target: Path) -> Path:
    """Copy an index; its encoder is never written and need not be copied."""
    shutil.copytree(folder, target, ignore=shutil.ignore_patterns("encoder"))
    (target / "encoder").symlink_to(folder / "encoder")
    return target


@pytest.fixture(scope="module")
def published(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index whose generation 2 is of edition 2."""
    root = copy_index(folder, tmp_path_factory.mktemp("held") / "index")
    publish_next(root, edition(2))
    return root


@pytest.fixture
def index(published: Path, tmp_path: Path) -> Path:
    """A copy to be published to, or harmed."""
    return copy_index(published, tmp_path / "index")


@pytest.fixture
def now() -> list[float]:
    """A clock's time, to be moved."""
    return [0.0]


@pytest.fixture
def followed(index: Path, now: list[float]) -> Iterator[FollowedIndex]:
    opened = FollowedIndex(index, settings=Settings(), cache_mb=16, clock=lambda: now[0])
    yield opened
    opened.close()


def test_a_publish_and_a_rollback_show_at_the_next_query(index: Path, followed: FollowedIndex) -> None:
    retriever = LiveRetriever(followed)
    assert editions(retriever.retrieve(ASKED)) == {2}
    publish_next(index, edition(3))
    assert editions(retriever.retrieve(ASKED)) == {3}
    write_current(index, 2)
    assert editions(retriever.retrieve(ASKED)) == {2}


def test_who_has_an_answer_about_the_past_waits_for_nobody_who_opens_a_generation(
    index: Path, followed: FollowedIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish_next(index, edition(3))
    opening, answered = threading.Event(), threading.Event()

    def opened_late(stores: OpenedStores) -> Readers:
        opening.set()
        assert answered.wait(30)
        return readers_of(stores)

    with ThreadPoolExecutor() as pool:
        with followed.readers_at(2) as earlier:
            publish_next(index, edition(4))
            monkeypatch.setattr("indexes.following.readers_of", opened_late)
            opened = pool.submit(followed.readers)
            assert opening.wait(30)
        answered.set()
        assert (earlier.generation, opened.result(30).generation) == (2, 4)


def test_what_is_held_in_memory_changes_no_byte_of_an_answer(index: Path) -> None:
    cold = build_retriever(open_readers(index, environment={}))
    queries = [ASKED, build_query("Archive tapes"), build_query("where is Archive boxes", top_k=3)]
    for cache_mb in (1, 64):
        with open_retriever(index, environment={}, clock=lambda: 0.0, cache_mb=cache_mb) as live:
            assert [live.retrieve(query) for query in queries] == [cold.retrieve(query) for query in queries]


def test_readers_are_kept_while_the_generation_is_the_same_and_share_stores_with_the_next(
    index: Path, followed: FollowedIndex
) -> None:
    first = followed.readers()
    assert followed.readers() is first
    publish_next(index, edition(3))
    second = followed.readers()
    assert (first.generation, second.generation) == (2, 3)
    assert second.encoder is first.encoder
    assert len(first.chunks.get([chunk.id for _, found in edition(2) for chunk in found])) == 3


def test_memory_is_divided_anew_where_a_generation_no_longer_fits(
    followed: FollowedIndex, index: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    first = followed.readers()
    assert vars(first.chunks)["_held"]
    assert not caplog.messages
    monkeypatch.setattr(LanceChunkStore, "bytes_to_hold", lambda *_: 1 << 40)
    publish_next(index, edition(3))
    second = followed.readers()
    assert vars(second.chunks)["_held"] is None
    assert vars(second.graph)["_held_edges"]
    told = "do not fit in a cache of 16 MB and are read for each question; SITEGRAPH_READER_CACHE_MB="
    assert [told in message for message in caplog.messages] == [True]
    assert second.encoder is first.encoder
    every = [chunk.id for _, found in edition(2) for chunk in found]
    assert len(first.chunks.get(every)) == len(every), "who began on the first ends on it"


def test_memory_stays_divided_where_a_size_cannot_be_read(
    followed: FollowedIndex, index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    followed.readers()
    late = mock.Mock(side_effect=StoreUnavailable("answers late", subject="chunks"))
    monkeypatch.setattr(LanceChunkStore, "bytes_to_hold", late)
    publish_next(index, edition(3))
    assert vars(followed.readers().chunks)["_held"]


def test_answers_of_many_threads_are_each_of_one_generation(index: Path, followed: FollowedIndex) -> None:
    retriever, seen, stop = LiveRetriever(followed), list[ContextBundle](), threading.Event()

    def ask_on() -> None:
        while not stop.is_set():
            seen.append(retriever.retrieve(ASKED))

    threads = [threading.Thread(target=ask_on) for _ in range(4)]
    for thread in threads:
        thread.start()
    for number in (3, 4):
        publish_next(index, edition(number))
        before = len(seen)
        while len(seen) < before + 8 and any(thread.is_alive() for thread in threads):
            stop.wait(0.01)
    stop.set()
    for thread in threads:
        thread.join()
    assert {tuple(editions(bundle)) for bundle in seen} <= {(2,), (3,), (4,)}
    assert {bundle.generation for bundle in seen} >= {3, 4}
    assert len({repr(bundle) for bundle in seen}) == len({bundle.generation for bundle in seen})


def test_a_query_whose_generation_is_pruned_under_it_is_answered_from_the_next(
    index: Path, followed: FollowedIndex
) -> None:
    retriever, asked = LiveRetriever(followed), list[int]()

    def ask(readers: Readers) -> int:
        asked.append(readers.generation)
        if len(asked) == 1:
            publish_next(index, edition(3))
            stores = OpenedStores(index, Settings())
            stores.chunks.writer().prune(keep=[3])
            stores.close()
            OpenedStores(index, Settings()).chunks.at(readers.generation)
        return readers.generation

    assert retriever.read(ask) == 3
    assert asked == [2, 3]


def test_one_query_over_small_tables_reads_each_once(index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scans = list[str]()
    real = scan.tables_with

    def counted(table: Table, *given: Any) -> Iterator[Any]:
        scans.append(table.name)
        return real(table, *given)

    monkeypatch.setattr(scan, "tables_with", counted)

    def ask() -> ContextBundle:
        readers = open_readers(index, environment={})
        return find_evidence(readers, build_retriever(readers), ASKED).bundle

    held, scans_of_held = ask(), len(scans)
    monkeypatch.setattr(wiring, "SMALL_MB", 0)
    assert ask() == held
    assert scans_of_held == 0
    assert {"chunks", "nodes", "edges"} <= {*scans}


def test_a_store_that_fails_for_good_is_said_once(followed: FollowedIndex) -> None:
    asked = list[int]()

    def ask(readers: Readers) -> None:
        asked.append(readers.generation)
        raise StoreUnavailable("gone", subject="chunks")

    with pytest.raises(StoreUnavailable, match="gone"):
        LiveRetriever(followed).read(ask)
    assert asked == [2]


def test_an_index_made_again_at_the_same_place_is_opened_again(
    index: Path, folder: Path, followed: FollowedIndex
) -> None:
    before = followed.readers()
    shutil.rmtree(index)
    copy_index(folder, index)
    manifest = (index / "index.json").read_text().replace('"index_id": "test"', '"index_id": "another"')
    (index / "index.json").write_text(manifest)
    after = followed.readers()
    assert (before.generation, after.generation) == (2, 1)
    assert after.manifest.index_id == "another"
    assert LiveRetriever(followed).retrieve(build_query("GOV-0017")).evidence


def test_a_generation_made_again_under_the_number_that_is_held_is_opened_again(
    index: Path, folder: Path, followed: FollowedIndex
) -> None:
    """Such as that of an audience that was dropped and built again: its id is the same, too."""
    retriever = LiveRetriever(followed)
    assert editions(retriever.retrieve(ASKED)) == {2}
    shutil.rmtree(index)
    publish_next(copy_index(folder, index), edition(7))
    layout = IndexLayout(index)
    dump_generation(layout, replace(load_generation(layout, 2), run_id="another"))
    write_current(index, 2)
    assert editions(retriever.retrieve(ASKED)) == {2, 7}, "the number of the one, the words of the other"
    assert "Edition 2" not in str(retriever.retrieve(ASKED))


def test_a_graph_that_fails_is_left_alone_for_a_while(followed: FollowedIndex, now: list[float]) -> None:
    whole = followed.readers()
    followed.leave_graph(whole)
    assert followed.readers().graph is None
    assert LiveRetriever(followed).retrieve(ASKED).degraded == ("graph",)
    now[0] += RETRY_SECONDS - 0.1
    assert followed.readers().graph is None
    now[0] += 0.2
    assert followed.readers().graph is not None
    assert followed.readers().degraded == ()


def test_a_query_that_lost_the_graph_on_the_way_spares_the_next_the_wait(index: Path) -> None:
    write_current(index, 1)
    # Too little to hold it.
    followed = FollowedIndex(index, settings=Settings(), cache_mb=1, clock=lambda: 0.0)
    retriever, asked = LiveRetriever(followed), build_query("What depends on GOV-0017?")
    assert followed.readers().graph is not None
    shutil.rmtree(index / "lance" / "edges.lance" / "data")
    assert retriever.retrieve(asked).degraded == ("graph",)
    assert followed.readers().graph is None


def test_without_an_index_each_query_says_so_until_there_is_one(folder: Path, tmp_path: Path) -> None:
    place = tmp_path / "later"
    with open_retriever(place, environment={}, clock=lambda: 0.0) as retriever:
        with pytest.raises(ConfigError, match="not an index"):
            retriever.retrieve(ASKED)
        copy_index(folder, place)
        assert retriever.retrieve(ASKED).generation == 1


def test_the_async_twin_gives_the_same_bundles_side_by_side(index: Path, followed: FollowedIndex) -> None:
    queries = [build_query(text) for text in ("archive boxes", "archive tapes", "papers", "boxes")]

    async def ask_all() -> list[ContextBundle]:
        async with open_async_retriever(index, environment={}, clock=lambda: 0.0, threads=3) as retriever:
            return await asyncio.gather(*(retriever.retrieve(query) for query in queries))

    alone = LiveRetriever(followed)
    assert asyncio.run(ask_all()) == [alone.retrieve(query) for query in queries]


def test_a_cancelled_question_does_not_keep_the_others(index: Path) -> None:
    async def ask_and_leave() -> ContextBundle:
        async with open_async_retriever(index, environment={}, clock=lambda: 0.0, threads=1) as retriever:
            left = asyncio.ensure_future(retriever.retrieve(ASKED))
            await asyncio.sleep(0)
            left.cancel()
            return await retriever.retrieve(ASKED)

    assert asyncio.run(ask_and_leave()).evidence


@pytest.mark.parametrize(
    "block", re.findall(r"^```python\n(.*?)^```", HOW_TO.read_text("utf-8"), re.M | re.S)
)
def test_what_the_how_to_shows_runs(
    block: str, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "handbook-index").symlink_to(folder)
    monkeypatch.chdir(tmp_path)
    exec(compile(block, str(HOW_TO), "exec"), {"__name__": "__main__"})
