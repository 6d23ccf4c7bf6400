"""`index.json`: no harm to it goes unseen."""

from dataclasses import replace
from pathlib import Path

import pytest

from indexes.layout import (
    IndexLayout,
    IndexManifest,
    ModelManifest,
    dump_manifest,
    is_repeated,
    load_manifest,
)
from schemas.errors import DamageFound, SitegraphError

MADE = IndexManifest(
    index_id="a1b2", graph="lancedb", model=ModelManifest(name="small", sha256="f00", dim=384, max_tokens=256)
)


@pytest.fixture
def layout(tmp_path: Path) -> IndexLayout:
    layout = IndexLayout(tmp_path)
    layout.manifest.write_text(dump_manifest(MADE))
    return layout


def test_what_is_written_is_read(layout: IndexLayout) -> None:
    assert load_manifest(layout) == MADE


def test_an_index_without_stems_says_nothing_that_the_version_before_cannot_read(layout: IndexLayout) -> None:
    assert "stems" not in layout.manifest.read_text()
    stemmed = replace(MADE, model=replace(MADE.model, stems=True))
    layout.manifest.write_text(dump_manifest(stemmed))
    assert load_manifest(layout) == stemmed


@pytest.mark.parametrize("bit", range(7))
def test_a_flipped_bit_is_seen_wherever_it_is(layout: IndexLayout, bit: int) -> None:
    whole, unseen = layout.manifest.read_bytes(), []
    for at in range(len(whole)):
        harmed = bytearray(whole)
        harmed[at] ^= 1 << bit
        layout.manifest.write_bytes(bytes(harmed))
        try:
            found = load_manifest(layout)
        except SitegraphError:
            continue
        # White space that became other white space harms nothing.
        if is_repeated(found, MADE) and bytes(harmed).split() != whole.split():
            unseen.append((at, chr(whole[at]), chr(harmed[at])))
    assert unseen == []


def test_a_place_of_raw_bytes_that_is_none_is_damage_and_no_setting(layout: IndexLayout) -> None:
    layout.manifest.write_text(dump_manifest(MADE).replace('"files"', '"biles"'))
    with pytest.raises(DamageFound, match="names no place of raw bytes"):
        load_manifest(layout)
