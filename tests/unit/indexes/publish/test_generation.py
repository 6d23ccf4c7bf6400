"""Manifests of generations, on disk and back."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from indexes.lattice_hash import LatticeHash
from indexes.layout import IndexLayout
from indexes.ports import StoreState
from indexes.publish.current import write_current
from indexes.publish.generation import (
    EMPTY,
    GenerationManifest,
    dump_generation,
    load_generation,
    store_record,
    store_state,
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
    stores={"chunks": store_record(StoreState(counts={"html": 9, "pdf": 1}, version=4))},
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
    with pytest.raises(DamageFound, match="repair it with: sitegraph repair"):
        load_generation(layout, 3)


def test_a_missing_manifest_is_damage(tmp_path: Path) -> None:
    with pytest.raises(DamageFound, match=r"3\.json"):
        load_generation(IndexLayout(tmp_path), 3)


def test_one_digit_that_rots_in_the_manifest_is_found_by_what_current_says(tmp_path: Path) -> None:
    layout = IndexLayout(tmp_path)
    dump_generation(layout, MANIFEST)
    write_current(tmp_path, 3)
    rotten = layout.generation(3).read_text().replace("2026-03-01", "2026-03-05")
    layout.generation(3).write_text(rotten)

    with pytest.raises(DamageFound, match=r"3\.json: is damaged; repair it with: sitegraph repair"):
        load_generation(layout, 3)


def test_one_digit_that_rots_in_current_leads_to_no_other_generation(tmp_path: Path) -> None:
    layout = IndexLayout(tmp_path)
    for number in (2, 3):
        dump_generation(layout, replace(MANIFEST, generation=number))
    write_current(tmp_path, 3)
    layout.current.write_bytes(b"2" + layout.current.read_bytes()[1:])

    with pytest.raises(DamageFound, match=r"2\.json: is damaged"):
        load_generation(layout, 2)


def test_the_manifest_of_another_generation_is_not_taken_for_it(tmp_path: Path) -> None:
    layout = IndexLayout(tmp_path)
    dump_generation(layout, MANIFEST)
    layout.generation(2).write_bytes(layout.generation(3).read_bytes())

    with pytest.raises(DamageFound, match=r"2\.json: is damaged"):
        load_generation(layout, 2)


STATE = StoreState(counts={"html": 9}, rows=LatticeHash().plus([("a", "1")]), version=4)


def test_the_state_of_a_store_is_read_as_it_was_kept() -> None:
    assert store_state(json.loads(json.dumps(store_record(STATE)))) == STATE


@pytest.mark.parametrize(
    "other",
    [{"lanes": None}, {"lanes": "AAAA"}, {"digest": "0" * 64}, {"counts": {"html": 8}}, {"counts": None}],
    ids=str,
)
def test_a_state_that_does_not_match_its_digest_is_none(other: dict[str, object]) -> None:
    assert store_state({**store_record(STATE), **other}) is None


def test_an_earlier_version_kept_no_state() -> None:
    assert store_state({"counts": {"html": 9}, "digest": "0" * 64, "version": 4}) is None
