"""docs/pdf.py: the manual as one PDF."""

import re
from pathlib import Path
from typing import Any

import pymupdf
import pytest

from docs.navigation import nav_paths, read_settings
from docs.pdf import DOCS, build_pdf

A_TABLE = "| key | meaning |\n|---|---|\n| `a` | first |\n| `b` | second |\n| `c` | third |\n"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_pdf(tmp_path_factory.mktemp("manual") / "manual.pdf")


@pytest.fixture(scope="module")
def manual(built: Path) -> Any:
    return pymupdf.open(built)


def _text(page: Any, clip: Any = None) -> str:
    return str(
        page.get_text("text", clip=clip, flags=pymupdf.TEXTFLAGS_TEXT & ~pymupdf.TEXT_PRESERVE_LIGATURES)
    )


def _pages(folder: Path, text: str) -> Path:
    folder.mkdir()
    (folder / "mkdocs.yml").write_text("site_name: book\nnav:\n  - Page: page.md\n")
    (folder / "page.md").write_text(text)
    return folder


def test_the_outline_holds_every_heading_in_order(manual: Any) -> None:
    paths = nav_paths(read_settings(DOCS)["nav"])
    headings = [
        [len(marks), title.replace("`", "")]
        for path in paths
        for marks, title in re.findall(
            r"^(#+) (.+)$", re.sub(r"```.*?```", "", (DOCS / path).read_text(), flags=re.DOTALL), re.MULTILINE
        )
    ]

    assert [entry[:2] for entry in manual.get_toc()] == headings


def test_an_outline_entry_leads_to_its_heading(manual: Any) -> None:
    for _, title, page_no, where in manual.get_toc(simple=False):
        below = pymupdf.Rect(0, where["to"].y - 2, 595, where["to"].y + 40)
        text = " ".join(_text(manual[page_no - 1], below).split())
        assert text.startswith(title[:30]), (title, text)


def test_every_chapter_starts_a_page_and_every_page_has_its_number(manual: Any) -> None:
    starts = [page_no for level, _, page_no in manual.get_toc() if level == 1]

    assert len(set(starts)) == len(starts)
    for page in manual:
        assert page.get_text("text", clip=pymupdf.Rect(500, 790, 595, 842)).strip() == str(page.number + 1)


def test_links_between_pages_of_the_manual_stay_links(manual: Any) -> None:
    targets = [link for page in manual for link in page.get_links() if link["kind"] == pymupdf.LINK_GOTO]

    assert len(targets) > 20
    assert all(0 <= link["page"] < len(manual) for link in targets)


def test_nothing_that_follows_a_table_at_a_page_end_is_lost(tmp_path: Path) -> None:
    text = "# Book\n\n" + "\n".join(f"Before {i}.\n\n{A_TABLE}\nAfter {i}.\n" for i in range(40))

    book = pymupdf.open(build_pdf(tmp_path / "book.pdf", docs=_pages(tmp_path / "docs", text)))

    words = " ".join(page.get_text() for page in book)
    assert len(book) > 3
    assert [i for i in range(40) if f"Before {i}." not in words or f"After {i}." not in words] == []
    assert words.count("third") == 40


def test_two_equal_headings_on_a_page_are_refused(tmp_path: Path) -> None:
    docs = _pages(tmp_path / "docs", "# Book\n\n## Part\n\ntext\n\n## Part\n\ntext\n")

    with pytest.raises(ValueError, match="two headings 'Part'"):
        build_pdf(tmp_path / "book.pdf", docs=docs)


@pytest.mark.parametrize("before", [0, 1, 20, 45])
def test_a_table_taller_than_a_page_keeps_all_its_rows(tmp_path: Path, before: int) -> None:
    lines = "".join(f"Line {i}.\n\n" for i in range(before))
    rows = "".join(f"| {i} | row |\n" for i in range(100))
    docs = _pages(tmp_path / "docs", f"# Book\n\n{lines}| n | what |\n|---|---|\n{rows}")

    book = pymupdf.open(build_pdf(tmp_path / "book.pdf", docs=docs))

    assert sum(_text(page).count("row") for page in book) == 100


def test_a_long_code_block_runs_on_over_pages(tmp_path: Path) -> None:
    lines = "".join(f"line {i}\n" for i in range(200))
    docs = _pages(tmp_path / "docs", f"# Book\n\n```\n{lines}```\n")

    book = pymupdf.open(build_pdf(tmp_path / "book.pdf", docs=docs))

    words = "\n".join(page.get_text() for page in book)
    assert [i for i in range(200) if f"line {i}\n" not in words] == []


def test_equal_pages_give_equal_bytes(built: Path, tmp_path: Path) -> None:
    assert build_pdf(tmp_path / "again.pdf").read_bytes() == built.read_bytes()
