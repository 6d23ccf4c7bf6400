"""Files that nothing needs any more go, and never those of a crawl under way."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import sqlalchemy as sa

from flows.commit.publish import collect_garbage, sweep
from flows.run.generations import COLLECTION, wait_for_collection
from flows.run.index import Index
from indexes.layout import IndexLayout, IndexManifest, ModelManifest
from indexes.publish.current import write_current
from indexes.stores.ledger.tables import lease
from indexes.stores.raw import FileRawStore
from runtime.progress import StageProgress
from schemas.documents import DocumentState
from schemas.settings import Settings
from tests.fakes.ledger_rows import make_known


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    """An index without stores; its run of the source `site` holds what it holds after a crawl."""
    model = ModelManifest(name="test", sha256="0" * 64, dim=8, max_tokens=256)
    manifest = IndexManifest(index_id="test", graph="lance", model=model)
    index = Index(layout=IndexLayout(tmp_path), manifest=manifest, settings=Settings())
    write_current(index.layout.root, 0)
    for name in ("index", "source:site"):
        hold(index, name)
    yield index
    index.close()


def hold(index: Index, name: str) -> None:
    assert index.ledger.leases.acquire(name, holder="me", now=index.now(), expires_at="9999")


def release(index: Index, name: str) -> None:
    """Let go of a lease, whoever has it."""
    with index.ledger.engine.begin() as connection:
        connection.execute(sa.update(lease).where(lease.c.name == name).values(expires_at="2000"))


def keep(index: Index, path: str, version: str) -> tuple[str, str]:
    """Fetch and parse a page; give the hashes of both files."""
    raw, fragment = index.raw.put(f"{path} {version}".encode()), index.fragments.put(f"{version}".encode())
    known = make_known(path, state=DocumentState.FETCHED, raw_sha=raw, fragment_sha=fragment)
    index.ledger.documents.save([known])
    return raw, fragment


def there(index: Index, files: tuple[str, str]) -> tuple[bool, bool]:
    return index.raw.has(files[0]), index.fragments.has(files[1])


def test_what_was_replaced_goes_and_what_is_there_stays(index: Index) -> None:
    old, new = keep(index, "a", "1"), keep(index, "a", "2")

    assert collect_garbage(index, source="site") == 2
    assert (there(index, old), there(index, new)) == ((False, False), (True, True))
    assert collect_garbage(index, source="site") == 0


def test_an_encoder_that_no_generation_names_goes_unless_another_run_may_have_exported_it(
    index: Index,
) -> None:
    encoder = index.layout.root / "encoder-0123456789ab"
    encoder.mkdir()
    other = index.ledger.leases.acquire("source:other", holder="they", now=index.now(), expires_at="9999")
    assert other is not None

    collect_garbage(index, source="site")
    assert encoder.is_dir()

    index.ledger.leases.release(other)
    collect_garbage(index, source="site")
    assert not encoder.exists()


def test_nothing_goes_while_another_source_is_crawled(index: Index) -> None:
    """What it has fetched is not in the ledger yet."""
    files = index.raw.put(b"on its way"), index.fragments.put(b"on its way")
    hold(index, "source:other")

    assert collect_garbage(index, source="site") == 0
    assert there(index, files) == (True, True)


@pytest.mark.parametrize("lists_all", [True, False])
def test_a_kill_in_the_middle_leaves_what_is_needed(index: Index, *, lists_all: bool) -> None:
    if not lists_all:
        index.ledger.retention.swept()
    old, new = keep(index, "a", "1"), keep(index, "a", "2")

    def crash(_point: str) -> None:
        raise KeyboardInterrupt

    index.crash_point = crash
    with pytest.raises(KeyboardInterrupt):
        collect_garbage(index, source="site")
    assert (there(index, old), there(index, new)) == ((False, True), (True, True))

    index.crash_point = lambda _point: None
    assert collect_garbage(index, source="site") == 1
    assert (there(index, old), there(index, new)) == ((False, False), (True, True))


def lose(index: Index) -> tuple[str, str]:
    """Write files that nothing names, as a process does that is killed before it saves its rows."""
    return index.raw.put(b"never named"), index.fragments.put(b"never named")


def test_a_run_lists_all_files_once_and_then_looks_at_what_was_replaced_alone(
    index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    index.raw.put(b"of an earlier version"), keep(index, "a", "0")
    assert collect_garbage(index, source="site") == 1

    def refuse(_self: FileRawStore, _named: object) -> int:
        raise AssertionError("all files are listed")

    monkeypatch.setattr(FileRawStore, "drop_all_but", refuse)
    old, new = keep(index, "a", "1"), keep(index, "a", "2")
    assert collect_garbage(index, source="site") == 4
    assert (there(index, old), there(index, new)) == ((False, False), (True, True))
    assert collect_garbage(index, source="site") == 0


def test_a_sweep_finds_what_nothing_ever_named_and_spares_what_is_there(index: Index) -> None:
    index.ledger.retention.swept()
    lost, kept = lose(index), keep(index, "a", "1")
    assert collect_garbage(index, source="site") == 0
    assert (there(index, lost), there(index, kept)) == ((True, True), (True, True))

    release(index, "source:site")
    assert sweep(index) == 2
    assert (there(index, lost), there(index, kept)) == ((False, False), (True, True))
    assert sweep(index) == 0


def test_a_sweep_waits_for_no_crawl_and_deletes_nothing_beside_one(index: Index) -> None:
    lost = lose(index)
    assert sweep(index) == 0
    assert there(index, lost) == (True, True)


def test_the_run_after_one_that_broke_off_lists_all_files(index: Index) -> None:
    index.ledger.retention.swept()
    index.ledger.runs.start("run-1", source="site", now=index.now())
    lost = lose(index)
    index.ledger.runs.resume("site")

    assert collect_garbage(index, source="site") == 2
    assert there(index, lost) == (False, False)
    assert not index.ledger.retention.is_sweep_due()


def test_what_is_replaced_beside_another_crawl_goes_with_the_next_run(index: Index) -> None:
    index.ledger.retention.swept()
    old, new = keep(index, "a", "1"), keep(index, "a", "2")
    hold(index, "source:other")
    assert collect_garbage(index, source="site") == 0

    release(index, "source:other")
    assert collect_garbage(index, source="site") == 2
    assert (there(index, old), there(index, new)) == ((False, False), (True, True))


class StopOfAWaiter(threading.Event):
    """The stop event of somebody who looks at it only while waiting; `waits` is set at the first look."""

    def __init__(self) -> None:
        super().__init__()
        self.waits = threading.Event()

    def wait(self, timeout: float | None = None) -> bool:
        """Say so, and wait."""
        self.waits.set()
        return super().wait(timeout)


def test_a_crawl_that_begins_meanwhile_waits_for_the_end(index: Index) -> None:
    collecting, go_on, stop = threading.Event(), threading.Event(), StopOfAWaiter()

    def dawdle(_point: str) -> None:
        collecting.set()
        go_on.wait(120)

    index.crash_point = dawdle
    with ThreadPoolExecutor(2) as pool:
        collection = pool.submit(collect_garbage, index, source="site")
        assert collecting.wait(120)
        crawl = pool.submit(wait_for_collection, index, progress=StageProgress(quiet=True), stop=stop)
        assert stop.waits.wait(120)
        assert not crawl.done()
        go_on.set()
        crawl.result(120)
        collection.result(120)
    assert COLLECTION not in index.ledger.leases.held(now=index.clock.now().isoformat())


def test_ten_changes_of_a_site_need_no_more_room_than_two(index: Index) -> None:
    sizes = []
    for version in range(10):
        for page in range(5):
            keep(index, f"page-{page}", f"{version} {page}")
        collect_garbage(index, source="site")
        folders = (index.layout.raw, index.layout.fragments)
        sizes.append(sum(1 for folder in folders for file in folder.rglob("*.zst")))

    assert sizes == [10] * 10
