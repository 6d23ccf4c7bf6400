"""The files of a table's version, told without the driver: with them alone the driver reads everything."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from indexes.publish.files import FileCheck, stamp_files
from indexes.stores.lance.store import LanceGraphStore
from indexes.stores.lance.table_upkeep import MAX_STALE_VERSIONS
from indexes.stores.lance.tables import why_unlistable
from indexes.table_files import files_of, unreadable_in
from schemas.errors import DamageFound
from tests.fakes.small_index import page

TABLES = ("nodes", "edges")


@pytest.fixture(scope="module")
def lance(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two generations, the second of which lacks a document of the first."""
    folder = tmp_path_factory.mktemp("lance")
    store = LanceGraphStore.create(folder)
    first, second = page("one", {"One": "a text"})[0], page("two", {"Two": "another", "More": "a third"})[0]
    writer = store.writer()
    writer.stage(1, base=0)
    writer.apply_nodes([*first, *second], ())
    writer.apply_edges((), ())
    writer.finish(1)
    writer.stage(2, base=1)
    writer.apply_nodes((), {node.id for node in first})
    writer.apply_edges((), ())
    writer.finish(2)
    return folder


@pytest.mark.parametrize("generation", [1, 2])
def test_the_driver_needs_no_other_file(lance: Path, tmp_path: Path, generation: int) -> None:
    told = [
        f"{table}.lance/{name}" for table in TABLES for name in files_of(lance / f"{table}.lance", generation)
    ]
    for name in told:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(lance / name, tmp_path / name)
    copied, whole = (LanceGraphStore(folder).at(generation) for folder in (tmp_path, lance))

    assert tuple(copied.scan_nodes()) == tuple(whole.scan_nodes())
    assert copied.damaged_rows() == ()
    ids = [node.id for node in whole.scan_nodes()]
    assert len(copied.nodes(ids)) == len(ids) > 0
    assert any("_indices/" in name for name in told)
    assert any("_deletions/" in name for name in told) == (generation == 2)


def test_a_generation_that_is_not_there_is_damage(lance: Path) -> None:
    with pytest.raises(DamageFound, match="nodes: generation 9 cannot be read"):
        files_of(lance / "nodes.lance", 9)


def test_no_bit_that_flips_in_a_manifest_is_anything_but_damage(lance: Path, tmp_path: Path) -> None:
    table = Path(shutil.copytree(lance / "nodes.lance", tmp_path / "nodes.lance"))
    (name,) = (name for name in files_of(table, 2) if name.endswith(".manifest"))
    data = (table / name).read_bytes()
    refused = 0
    for place in range(len(data)):
        (table / name).write_bytes(data[:place] + bytes([data[place] ^ 16]) + data[place + 1 :])
        try:
            files_of(table, 2)
        except DamageFound:
            refused += 1
    assert refused > 0


@pytest.mark.parametrize(
    "rot", [lambda data: data[:20], lambda data: data.replace(b"row_sha256", b"row_sha25\xff")]
)
def test_a_manifest_of_an_older_generation_that_stops_every_compaction_is_seen(
    lance: Path, tmp_path: Path, rot: Callable[[bytes], bytes]
) -> None:
    table = Path(shutil.copytree(lance / "nodes.lance", tmp_path / "nodes.lance"))
    assert why_unlistable(tmp_path, "nodes") is None
    (name,) = (name for name in files_of(table, 1) if name.endswith(".manifest"))
    (table / name).write_bytes(rot((table / name).read_bytes()))

    assert unreadable_in(table) == (), "the current generation can be read"
    assert why_unlistable(tmp_path, "nodes") is not None


def test_cleaning_up_goes_on_where_the_manifest_of_a_kept_generation_was_lost(tmp_path: Path) -> None:
    store = LanceGraphStore.create(tmp_path)
    for number in range(1, MAX_STALE_VERSIONS + 4):
        writer = store.writer()
        writer.stage(number, base=number - 1)
        writer.apply_nodes(page(f"page {number}", {"One": f"text {number}"})[0], ())
        writer.apply_edges((), ())
        writer.finish(number)
    newest = number
    (name,) = (n for n in files_of(tmp_path / "nodes.lance", newest - 1) if n.endswith(".manifest"))
    (tmp_path / "nodes.lance" / name).unlink()

    store.writer().prune(keep=(newest - 1, newest))

    assert len(tuple(store.at(newest).scan_nodes())) > 0


@pytest.mark.parametrize("pattern", ["_refs/tags/gen-1.json", "_versions/*.manifest"])
def test_a_file_that_stops_every_opening_is_named(lance: Path, tmp_path: Path, pattern: str) -> None:
    table = Path(shutil.copytree(lance / "nodes.lance", tmp_path / "nodes.lance"))
    assert unreadable_in(table) == ()
    harmed = min(table.glob(pattern))
    harmed.write_bytes(harmed.read_bytes()[:20])
    assert unreadable_in(table) == (harmed.relative_to(table).as_posix(),)


def test_no_later_generation_nor_any_cleanup_touches_a_file_of_a_kept_one(tmp_path: Path) -> None:
    """Else a run would find damage where there is none, and write everything again."""
    store, stamps, check = LanceGraphStore.create(tmp_path), {}, FileCheck(tmp_path)
    for number in range(1, 2 * MAX_STALE_VERSIONS + 5):
        writer = store.writer()
        writer.stage(number, base=number - 1)
        nodes = page(f"page {number}", {f"Page {number}": f"text {number}", "More": f"more {number}"})[0]
        gone = page(f"page {number - 5}", {f"Page {number - 5}": f"text {number - 5}"})[0]
        writer.apply_nodes(nodes, {node.id for node in gone})
        writer.apply_edges((), ())
        writer.finish(number)
        paths = [
            f"{table}.lance/{name}"
            for table in TABLES
            for name in files_of(tmp_path / f"{table}.lance", number)
        ]
        stamps[number] = stamp_files(tmp_path, paths, known={})
        kept = range(max(1, number - 2), number + 1)
        writer.prune(keep=kept)
        for generation in kept:
            assert check.damaged(stamps[generation]) == (), (number, generation)
        assert [unreadable_in(tmp_path / f"{table}.lance") for table in TABLES] == [(), ()]
    assert FileCheck(tmp_path).damaged(stamps[1]) != (), "something was cleaned up"
