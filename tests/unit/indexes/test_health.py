"""An index read for those who watch it: whole, while it is changed, and where parts of it are away."""

from pathlib import Path

import pytest

from indexes.health import HealthReader, index_label
from indexes.layout import IndexLayout
from indexes.markers import COPY, CopyMarker, write_marker
from indexes.publish.current import hold_file
from indexes.stores.lance import store as lance_health
from indexes.stores.ledger.ledger import open_ledger
from schemas.source import Source
from tests.fakes.disk_index import write_index
from tests.fakes.exported_encoder import place_exported_encoder
from tests.fakes.ledger_rows import make_known
from tests.fakes.next_generation import publish_next
from tests.fakes.small_index import page

NOW = "2026-01-06T00:00:00+00:00"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An index of one page."""
    encoder = place_exported_encoder(tmp_path / "encoder")
    return write_index(tmp_path / "index", [page("one", {"One": "Only this."})], (), encoder=encoder)


def test_tables_and_sources_are_told_as_readers_see_them(folder: Path) -> None:
    ledger = open_ledger(f"sqlite:///{IndexLayout(folder).ledger}")
    ledger.sources.save(Source(name="manual", kind="web"))
    ledger.documents.save([make_known("a", source="manual", next_due=NOW)])
    ledger.runs.start("r", source="manual", now=NOW)
    ledger.close()

    health = HealthReader(folder).read(NOW)

    assert health.problem is None
    assert health.generation == 1
    assert health.held_since is None
    assert {"chunks", "nodes", "edges"} == set(health.tables)
    assert health.tables["chunks"].rows == 1
    assert health.tables["chunks"].fragments == 1
    manual = health.sources["manual"]
    assert (manual.states, manual.due) == ({"new": 1}, 1)
    assert manual.last_run is not None
    assert manual.last_run.state == "interrupted", "nobody holds its lease"


def test_tables_of_a_generation_are_read_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reader = HealthReader(folder)
    first = reader.read(NOW).tables
    monkeypatch.setattr(lance_health, "table_health", None)

    assert reader.read(NOW).tables == first


def test_a_publish_and_a_hold_are_told_at_the_next_read(folder: Path) -> None:
    reader = HealthReader(folder)
    reader.read(NOW)

    publish_next(folder, [page("new", {"New page": "Only this too."})])
    hold_file(IndexLayout(folder)).write_text(f"{NOW}\n")
    health = reader.read(NOW)

    assert health.generation == 2
    assert health.held_since == NOW


def test_without_its_ledger_the_rest_is_told_and_the_problem(folder: Path) -> None:
    IndexLayout(folder).ledger.unlink()
    for beside in folder.glob("ledger.sqlite-*"):
        beside.unlink()

    health = HealthReader(folder).read(NOW)

    assert health.generation == 1
    assert health.sources == {}
    assert health.problem
    assert not IndexLayout(folder).ledger.exists()


def test_a_folder_that_is_no_index_is_a_problem_and_stays_as_it_is(tmp_path: Path) -> None:
    health = HealthReader(tmp_path).read(NOW)

    assert health.generation is None
    assert "not an index" in str(health.problem)
    assert list(tmp_path.iterdir()) == []


def test_a_copy_has_the_name_of_what_it_is_a_copy_of(folder: Path) -> None:
    assert index_label(folder) == str(folder)
    write_marker(folder, CopyMarker(url="s3://docs/handbook"))
    assert index_label(folder) == "s3://docs/handbook"
    (folder / COPY).write_text("{")
    assert index_label(folder) == str(folder)
