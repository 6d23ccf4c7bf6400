"""Manifests of generations, on disk and back."""

from pathlib import Path

import pytest

from indexes.layout import IndexLayout
from indexes.ports import StoreState
from indexes.publish.generation import (
    EMPTY,
    GenerationManifest,
    dump_generation,
    load_generation,
    store_record,
)
from schemas.errors import DamageFound

MANIFEST = GenerationManifest(
    generation=3,
    base=1,
    as_of="2026-03-01T12:00:00+00:00",
    source="handbook",
    run_id="run-1",
    plan_sha="p",
    sources={
        "handbook": {"documents": {"html": 2}, "chunks": {"html": 5, "pdf": 1}},
        "wiki": {"documents": {"html": 1}, "chunks": {"html": 4}},
    },
    stores={"chunks": store_record(StoreState(counts={"html": 9, "pdf": 1}, digest="d", version=4))},
)


def test_a_manifest_survives_the_disk(tmp_path: Path) -> None:
    dump_generation(IndexLayout(tmp_path), MANIFEST)
    assert load_generation(IndexLayout(tmp_path), 3) == MANIFEST


def test_totals_are_taken_over_all_sources() -> None:
    assert MANIFEST.totals() == {"documents": {"html": 3}, "chunks": {"html": 9, "pdf": 1}}
    assert EMPTY.totals() == {}


def test_generation_nought_is_empty_and_needs_no_file(tmp_path: Path) -> None:
    assert load_generation(IndexLayout(tmp_path), 0) is EMPTY


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"generation": 3}', '{"generations": 3}'])
def test_a_manifest_that_cannot_be_read_is_damage_with_a_way_out(tmp_path: Path, text: str) -> None:
    layout = IndexLayout(tmp_path)
    dump_generation(layout, MANIFEST)
    layout.generation(3).write_text(text)
    with pytest.raises(DamageFound, match="sitegraph rollback --to N"):
        load_generation(layout, 3)


def test_a_missing_manifest_is_damage(tmp_path: Path) -> None:
    with pytest.raises(DamageFound, match=r"3\.json"):
        load_generation(IndexLayout(tmp_path), 3)
