"""What one changed page of a real PDF costs, and that pages taken over change nothing."""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pymupdf
import pytest

from runtime.parser_pool import ParserPool
from schemas.errors import ParseError
from schemas.fragment import ParseRequest
from tests.quality.floors import hold
from tests.quality.pdf_documents import data_folder, load_twins, tokenizer_file
from tests.quality.pdf_edits import with_page, with_paragraph

pytestmark = [pytest.mark.long, pytest.mark.data, pytest.mark.timeout(1800)]

ROOT = Path(__file__).parents[2]
PAGES_OF_SCAN = 6


def manual() -> bytes:
    """A manual of 190 pages and more."""
    for twin in load_twins():
        with pymupdf.open(stream=twin.pdf, filetype="pdf") as document:
            if document.page_count >= 190:
                return twin.pdf
    raise AssertionError("no manual of 190 pages")


def scan_of(pdf: bytes) -> bytes:
    """Pages of a manual as a scanner gives them."""
    with pymupdf.open(stream=pdf, filetype="pdf") as document, pymupdf.open() as scanned:
        for number in range(20, 20 + PAGES_OF_SCAN):
            picture = document[number].get_pixmap(dpi=150, colorspace=pymupdf.csGRAY)
            scanned.new_page().insert_image(scanned[-1].rect, pixmap=picture)
        return bytes(scanned.tobytes(deflate=True))


def measure(folder: Path, before: bytes, after: bytes, *more: str) -> dict[str, Any]:
    files = folder / "before.pdf", folder / "after.pdf"
    for file, data in zip(files, (before, after), strict=True):
        file.write_bytes(data)
    command = [sys.executable, "-m", "tests.quality.pdf_pages", *map(str, files), *more]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    measured: dict[str, Any] = json.loads(done.stdout)
    assert measured["equal"]
    return measured


def told(name: str, measured: dict[str, Any]) -> str:
    whole, pages = measured["whole_seconds"], measured["read"] + measured["reused"]
    return (
        f"  {name}: {measured['reusing_seconds'] / whole:.0%} of the CPU seconds of a whole parse, digests "
        f"{measured['digest_seconds'] / whole:.1%}; {measured['bytes'] / pages / 1000:.1f} KB kept a page"
    )


def test_one_changed_page_of_a_manual_is_one_page_read(figures: list[str], tmp_path: Path) -> None:
    before = manual()
    for name, after in (("changed", with_paragraph(before)), ("inserted", with_page(before, 1))):
        measured = measure(tmp_path, before, after)
        figures.append(told(f"one page {name}", measured))
        pages = measured["read"] + measured["reused"]
        hold(figures, "pdf_at_most", f"pages_read_after_one_{name}", measured["read"], note=f"of {pages}")


@pytest.mark.skipif(shutil.which("tesseract") is None, reason="Tesseract is not installed")
def test_one_changed_page_of_a_scan_is_one_page_recognised(figures: list[str], tmp_path: Path) -> None:
    before = scan_of(manual())
    with pymupdf.open(stream=before, filetype="pdf") as document:
        document[2].draw_rect(pymupdf.Rect(72, 72, 300, 90), fill=(0, 0, 0))
        after = bytes(document.tobytes())
    measured = measure(tmp_path, before, after, "--ocr", "eng")
    figures.append(told("one page of a scan changed", measured))
    hold(
        figures,
        "pdf_at_most",
        "recognised_after_one_changed",
        measured["recognised"],
        note=f"of {PAGES_OF_SCAN}",
    )
    assert measured["reused"] == PAGES_OF_SCAN - 1


def test_pages_that_are_taken_over_give_the_same_bytes(figures: list[str]) -> None:
    asked = ParseRequest(uri="https://docs.example/a.pdf", source="docs", url="https://docs.example/a.pdf")
    documents = 0
    with ParserPool(workers=1, tokenizer=tokenizer_file()) as pool:
        for name, before, after in _edited():
            try:
                whole = pool.parse(after, asked)
                pages = pool.parse(before, asked).pages
            except ParseError:
                continue
            assert pool.parse(after, asked, pages=pages) == whole, name
            documents += 1
    counts = pool.page_counts
    figures.append(f"  {documents} PDFs with a page put in and one moved: {counts.reused} pages taken over")
    assert documents > 40


def _edited() -> Iterator[tuple[str, bytes, bytes]]:
    """Every fifth PDF of the gold sets and of the damaged ones, and the same with a page more in front, then
    the one that was last.
    """
    files = [*data_folder("pdf-gold").rglob("*.pdf"), *data_folder("pdf-robust").rglob("*.pdf")]
    for file in sorted(files)[::5]:
        before = file.read_bytes()
        try:
            with pymupdf.open(stream=before, filetype="pdf") as document:
                document.new_page(pno=0).insert_text((72, 72), "This page was not there before.")
                document.move_page(document.page_count - 1, 1)
                yield file.name, before, bytes(document.tobytes())
        except (RuntimeError, ValueError, AttributeError):
            continue  # what cannot be edited
