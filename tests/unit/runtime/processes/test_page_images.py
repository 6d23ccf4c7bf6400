"""Pages of PDFs drawn in a process of their own."""

import sqlite3
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pymupdf
import pytest

from indexes.changes import read_changes
from runtime.page_images import draw_apart, draw_box_apart, draw_page_apart, stored_bytes
from schemas.errors import ConfigError, ParseError, StoreUnavailable
from schemas.nodes import BBox, Chunk
from schemas.settings import Settings
from tests.fakes.governance import governance_documents
from tests.fakes.ledger_index import ledger_index
from tests.fakes.pdfs import manual

CHUNK = next(chunk for _, found in governance_documents()[0] for chunk in found if chunk.page_no == 1)


def test_a_page_is_drawn() -> None:
    assert pymupdf.Pixmap(draw_apart(manual(), CHUNK)).width > 100


def test_a_page_as_it_is_comes_with_its_size_and_how_it_is_turned() -> None:
    document = pymupdf.open()
    document.new_page(width=300, height=200).set_rotation(90)
    drawn = draw_page_apart(bytes(document.tobytes()), 1, dpi=72)
    picture = pymupdf.Pixmap(drawn.png)
    assert (picture.width, picture.height) == (drawn.size.width, drawn.size.height) == (200, 300)
    assert drawn.rotation == 90
    with pytest.raises(ParseError, match="no such page; the PDF has 1"):
        draw_page_apart(bytes(document.tobytes()), 2)


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
def test_a_part_of_a_page_is_drawn_alone_as_it_is_displayed(rotation: int) -> None:
    document = pymupdf.open()
    page = document.new_page(width=300, height=200)
    page.draw_rect((20, 30, 120, 80), color=None, fill=(0, 0, 1))
    page.draw_rect((150, 100, 250, 190), color=None, fill=(1, 0, 0))
    page.set_rotation(rotation)

    part = pymupdf.Pixmap(draw_box_apart(bytes(document.tobytes()), 1, BBox(20, 30, 120, 80)))

    size = (108 * 110 / 72, 58 * 110 / 72)  # 4 points more on each side
    assert (part.width, part.height) == pytest.approx(size[:: 1 if rotation % 180 == 0 else -1], abs=2)
    assert part.pixel(part.width // 2, part.height // 2) == (0, 0, 255)
    assert part.pixel(0, 0) == part.pixel(part.width - 1, part.height - 1) == (255, 255, 255)


def test_what_lies_off_the_page_is_not_drawn() -> None:
    with pytest.raises(ParseError, match="nothing of the page is there"):
        draw_box_apart(manual(), 1, BBox(5000, 5000, 5100, 5100))


@pytest.mark.parametrize(
    ("data", "seconds", "words"), [(b"no pdf", 10.0, "not a PDF"), (manual(), 0.001, "took longer")]
)
def test_what_cannot_be_drawn_is_said_in_one_line(data: bytes, seconds: float, words: str) -> None:
    with pytest.raises(ParseError, match=words) as refused:
        draw_apart(data, CHUNK, seconds=seconds)
    assert "\n" not in str(refused.value)


def test_a_passage_of_no_page_is_refused() -> None:
    prose = next(chunk for _, found in governance_documents()[0] for chunk in found if chunk.page_no is None)
    with pytest.raises(ConfigError, match="no page and box"):
        draw_apart(b"", prose)
    assert isinstance(prose, Chunk)


def test_who_reads_the_bytes_of_a_document_or_the_feed_waits_for_no_writer(tmp_path: Path) -> None:
    with ledger_index(tmp_path) as index:
        index.ledger.close()
        settings = Settings(index=str(index.layout.root))
        readers: Any = SimpleNamespace(generation=1, manifest=index.manifest)
        with closing(sqlite3.connect(index.layout.ledger, isolation_level=None)) as run:
            run.execute("BEGIN IMMEDIATE")
            run.execute("DROP TABLE answer")
            with pytest.raises(StoreUnavailable, match="has no bytes of this document"):
                stored_bytes(settings, readers)("pdf:none")
            assert read_changes(index.layout.root, since=0).entries == ()
            run.execute("COMMIT")
            with pytest.raises(StoreUnavailable, match="has no bytes of this document"):
                stored_bytes(settings, readers)("pdf:none")
            made = {name for (name,) in run.execute("SELECT name FROM sqlite_master")}
    assert "answer" not in made
