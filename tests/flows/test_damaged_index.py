"""An index whose files rot or get lost: nobody answers otherwise in silence, and each message leads out.

One damage for each kind of file here, all of them in tests/faults/test_damage_matrix.py.
"""

import json
import shutil
import sqlite3
from collections.abc import Callable
from itertools import cycle
from pathlib import Path

import pytest

from flows.run.damage import find_damage
from flows.run.opening import open_existing
from indexes.layout import IndexLayout
from indexes.publish.current import read_current
from indexes.publish.generation import load_generation
from indexes.table_files import files_of
from runtime.settings import read_settings
from schemas.errors import DamageFound
from tests.fakes.damage import DAMAGES, cases, delete, empty, flip, zero
from tests.fakes.damaged_index import House, publish_house
from tests.fakes.sitegraph_runs import Sitegraph

pytestmark = [pytest.mark.system, pytest.mark.server]


@pytest.fixture(scope="module")
def published(sitegraph: Sitegraph, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source file of an index at generation 3; it is copied, never written to."""
    return publish_house(sitegraph, tmp_path_factory.mktemp("house"))


@pytest.fixture
def house(sitegraph: Sitegraph, published: Path, capsys: pytest.CaptureFixture[str]) -> House:
    return House(sitegraph, published, capsys)


@pytest.mark.long
def test_no_kind_of_file_that_rots_changes_an_answer_in_silence(house: House, tmp_path: Path) -> None:
    """The kinds take turns on the damages."""
    before, turns, seen = house.ask(house.index), cycle(DAMAGES.values()), set()
    for kind, path in cases(house.index, of_each=1):
        shape = kind.replace("chunks.lance", "nodes.lance").replace("edges.lance", "nodes.lance")
        if shape in seen or kind.startswith(("raw/", "fragments/", "similar/")):
            continue
        seen.add(shape)
        index = house.copy(tmp_path / "index")
        if next(turns)(index / path):
            house.check_outcome(path, index, before)
    assert len(seen) > 20


def _chunk_data(index: Path) -> Path:
    """One that the current generation has rows in: others wait to be cleaned up."""
    described = load_generation(IndexLayout(index), 3)
    return index / next(path for path in described.files if path.startswith("lance/chunks.lance/data/"))


@pytest.mark.parametrize(
    ("file", "damage"),
    [
        (_chunk_data, flip(0.4)),
        (lambda index: index / "authority" / "3.arrow", flip(0.5)),
        pytest.param(lambda index: index / "authority" / "3.arrow", delete, marks=pytest.mark.long),
        (lambda index: index / "encoder" / "encoder.onnx.data", flip(0.5)),
        pytest.param(lambda index: index / "encoder" / "encoder.json", delete, marks=pytest.mark.long),
        (lambda index: index / "generations" / "3.json", delete),
        pytest.param(lambda index: index / "CURRENT", flip(0.0), marks=pytest.mark.long),
        (lambda index: index / "CURRENT", delete),
        pytest.param(lambda index: index / "index.json", delete, marks=pytest.mark.long),
        pytest.param(lambda index: index / "index.json", flip(0.5), marks=pytest.mark.long),
    ],
)
def test_what_the_message_says_makes_the_index_answer_again(
    house: House, tmp_path: Path, file: Callable[[Path], Path], damage: Callable[[Path], bool]
) -> None:
    before, index = house.ask(house.index), house.copy(tmp_path / "index")
    assert damage(file(index))

    asked, verified = house.check_outcome(file(index).relative_to(index), index, before)
    house.repair(index, asked.said)

    assert (asked.code, verified.code) == (1, 1)
    assert house.ask(index).answers == before.answers


@pytest.mark.parametrize("table", ["chunks", pytest.param("edges", marks=pytest.mark.long)])
def test_a_scheduled_run_over_a_lost_table_writes_it_again_from_what_was_parsed(
    house: House, tmp_path: Path, table: str
) -> None:
    before, index = house.ask(house.index), house.copy(tmp_path / "index")
    shutil.rmtree(IndexLayout(index).lance / f"{table}.lance")

    asked, verified = house.ask(index), house.verify(index)
    report = house.sitegraph.run(house.source, index)

    assert (asked.code, verified.code) == (1, 1)
    assert (report["generation"], report["documents"]["unchanged"]) == (4, 3)
    assert report["chunks"]["embedded"] == 0
    assert "is missing" in report["problems"][0]["reason"]
    assert "all rows are written again" in report["problems"][0]["reason"]
    assert house.ask(index).answers == before.answers
    assert house.verify(index).code == 0
    assert house.sitegraph.run(house.source, index)["generation"] is None


def test_a_lost_ledger_and_a_lost_table_are_refused_with_another_way_out(
    house: House, tmp_path: Path
) -> None:
    index = house.copy(tmp_path / "index")
    shutil.rmtree(IndexLayout(index).lance / "nodes.lance")
    for path in index.glob("ledger.sqlite*"):
        path.unlink()

    said = house.run(index)

    assert f"build another index with: sitegraph.index_source({str(house.source)!r}, index='ANOTHER')" in said
    assert house.run(tmp_path / "another") == ""
    assert house.ask(tmp_path / "another").code == 0


def test_vectors_that_changed_places_are_encoded_again_and_not_published(
    house: House, tmp_path: Path
) -> None:
    before, index = house.ask(house.index), house.copy(tmp_path / "index")
    with sqlite3.connect(index / "vectors.sqlite") as connection:
        rows = list(connection.execute("SELECT rowid, vector FROM vector ORDER BY rowid"))
        for (rowid, _), (_, vector) in zip(rows, [*rows[1:], rows[0]], strict=True):
            connection.execute("UPDATE vector SET vector = ? WHERE rowid = ?", (vector, rowid))
    connection.close()
    shutil.rmtree(IndexLayout(index).lance / "chunks.lance")

    report = house.sitegraph.run(house.source, index)

    assert report["chunks"]["embedded"] > 0
    assert house.ask(index).answers == before.answers
    verified = house.verify(index)
    assert "vectors do not match their checksum" in verified.said, "those of texts that are no more"
    house.repair(index, verified.said)
    assert house.verify(index).code == 0


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("vectors.sqlite", empty),
        ("ledger.sqlite", zero),
        pytest.param("vectors.sqlite", zero, marks=pytest.mark.long),
        pytest.param("ledger.sqlite", empty, marks=pytest.mark.long),
    ],
)
def test_a_database_that_rots_is_named_and_what_the_message_says_helps(
    house: House, tmp_path: Path, name: str, damage: Callable[[Path], bool]
) -> None:
    before, index = house.ask(house.index), house.copy(tmp_path / "index")
    for beside in index.glob(f"{name}-*"):
        beside.unlink()
    damage(index / name)

    verified = house.verify(index)
    if verified.code:
        house.repair(index, verified.said)

    assert house.verify(index).code == 0
    assert house.run(index) == ""
    assert house.ask(index).answers == before.answers


def test_no_source_is_dropped_from_a_damaged_index(house: House, tmp_path: Path) -> None:
    index = house.copy(tmp_path / "index")
    assert flip(0.5)(_chunk_data(index))

    with pytest.raises(DamageFound, match=r"is damaged.*repair it with: sitegraph repair"):
        house.sitegraph.drop("house", index)

    assert read_current(index) == 3


def _rot_a_version_nobody_reads(index: Path) -> None:
    """The manifest of generation 2, as the driver refuses it; every compaction of the table reads it."""
    folder = IndexLayout(index).lance / "chunks.lance"
    (name,) = (name for name in files_of(folder, 2) if name.endswith(".manifest"))
    data = (folder / name).read_bytes()
    (folder / name).unlink()
    (folder / name).write_bytes(data[:-1] + b"x")


def test_an_older_generation_that_rots_keeps_no_run_from_publishing(house: House, tmp_path: Path) -> None:
    before, index = house.ask(house.index), house.copy(tmp_path / "index")
    _rot_a_version_nobody_reads(index)
    assert house.ask(index).answers == before.answers

    later = house.source.parent / "house" / "later.md"
    later.write_text(
        "# Later\n\nA run that finds nothing new writes nothing, and has no use for older versions.\n"
    )
    try:
        report = house.sitegraph.run(house.source, index)
    finally:
        later.unlink()

    assert report["generation"] == 4
    assert "has versions that cannot be read" in report["problems"][0]["reason"]
    assert house.ask(index).answers == before.answers
    assert house.verify(index).code == 0


def _lose_a_row(index: Path) -> None:
    """Leave what a version before the hashes of files published, with other rows than it says."""
    layout = IndexLayout(index)
    record = json.loads(layout.generation(3).read_text())
    record["stores"]["nodes"]["digest"] = "0" * 64
    layout.generation(3).write_text(json.dumps({**record, "files": {}, "index": None}))
    layout.current.write_text("3\n")


@pytest.mark.parametrize(
    "point",
    [
        pytest.param(p, marks=pytest.mark.long)
        for p in ("plan.before_freeze", "plan.frozen", "graph.before_batch")
    ],
)
def test_a_repair_that_is_killed_stops_no_later_run(house: House, tmp_path: Path, point: str) -> None:
    """Damage that only a repair sees, so that the run after it takes the plan back."""
    before, index = house.ask(house.index), house.copy(tmp_path / "index")
    _lose_a_row(index)
    assert house.run(index) == "", "a run sees nothing"
    assert house.verify(index).code == 1
    command = ("run", str(house.source), "--index", str(index), "--repair")
    with house.sitegraph.process(*command, SITEGRAPH_FAULT=f"{point}:kill") as process:
        _, said = process.communicate(timeout=120)
    assert process.returncode == -9, said

    assert house.run(index) == ""
    assert house.run(index, repair=True) == ""
    assert house.ask(index).answers == before.answers
    assert house.verify(index).code == 0


def test_verifying_waits_for_nobody_who_writes_to_the_ledger(house: House, tmp_path: Path) -> None:
    """Nor does anybody who writes wait for it, as long as it reads."""
    index = house.copy(tmp_path / "index")
    opened = open_existing(read_settings(index=str(index)))
    assert opened.ledger.generations.newest_published() == 3
    with sqlite3.connect(index / "ledger.sqlite", isolation_level=None) as writer:
        writer.execute("BEGIN IMMEDIATE")
        assert find_damage(opened, 3) == ()
    writer.close()
    opened.close()
