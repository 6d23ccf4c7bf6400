"""Numbers are taken off the front of headings, and words never."""

from pathlib import Path

import pymupdf
import pytest

from ingest.parse.wording import is_bare_number, strip_numbering
from tests.fakes.pages import parse_file
from tests.fakes.real_sites import DATA


@pytest.mark.parametrize(
    ("printed", "title"),
    [
        ("Chapter 3. Lamps", "Lamps"),
        ("CHAPTER TWENTYONE Lamps", "Lamps"),
        ("Chapter 1 \u2013 Lamps", "Lamps"),
        ("Chapter 1\u2014Lamps", "Lamps"),
        ("Chapter 2: how lamps work", "how lamps work"),
        ("PART III - MISCELLANEOUS", "MISCELLANEOUS"),
        ("PART I - DEFINITIONS", "DEFINITIONS"),
        ("Appendix A- Lamps", "Lamps"),
        ("Appendix B Lamps", "Lamps"),
        ("Section 4.2 Lamps", "Lamps"),
        ("3.2 Lamps and plugs", "Lamps and plugs"),
        ("3.2 - Lamps", "Lamps"),
        ("8.1 pg_dump", "pg_dump"),
        ("4.6.4.3 Experimental", "Experimental"),
        ("A.1 Lamps", "Lamps"),
        ("7. Lamps", "Lamps"),
        ("7. lamps", "lamps"),
        ("2 Lamps", "Lamps"),
        ("2 - Lamps", "Lamps"),
    ],
)
def test_a_number_before_a_title_is_dropped_with_the_sign_after_it(printed: str, title: str) -> None:
    assert strip_numbering(printed) == title


@pytest.mark.parametrize(
    "title",
    [
        "3.2",
        "Chapter 9",
        "Appendix A",
        "PART III -",
        "A lamp for everyone",
        "Part of the lamp",
        "Part a story, part a song",
        "Part I am sure of",
        "Part civil, part military",
        "Part Civil War",
        "Annex 5 to the agreement",
        "Section 3-way lamps",
        "Appendix A-1 Lamps",
        "I am",
        "I",
        "IV. Lamps",
        "A. Lamps",
        "10 minutes to go",
        "2 - 4 players",
        "2-way lamps",
        "2024 in figures",
        "2.31.0 (2023-05-22)",
        "3.11.4, 2023",
        "Chapters of a life",
    ],
)
def test_what_may_be_words_of_a_heading_stays(title: str) -> None:
    assert strip_numbering(title) == title


@pytest.mark.parametrize("text", ["CHAPTER", "ONE", "TWENTYTHREE", "3.1.11", "Appendix A", "IV", "XLII."])
def test_what_is_printed_above_a_title_is_numbering(text: str) -> None:
    assert is_bare_number(text)


@pytest.mark.parametrize("text", ["Lamps", "One lamp", "3.1 Lamps", "Parts", "Civil", "Ill"])
def test_a_title_is_not_numbering(text: str) -> None:
    assert not is_bare_number(text)


FAMILIES = ("Asciidoctor 2.0.20", "DocBook XSL Stylesheets V1.79.1", "GNU Texinfo 7.0")


@pytest.mark.parametrize("generator", [*FAMILIES, "Hugo 0.120"])
@pytest.mark.parametrize(
    "printed", ["PART III - Miscellaneous", "Chapter 1 \u2013 Miscellaneous", "10 miscellaneous lamps"]
)
def test_headings_of_pages_lose_no_word_whatever_made_them(generator: str, printed: str) -> None:
    page = (
        f"<html><head><meta name=generator content='{generator}'><title>Lamps</title></head>"
        f"<body><h1>Lamps</h1><h2>{printed}</h2><p>Whatever else is said of lamps.</p></body></html>"
    )
    fragment = parse_file(page, "lamps.html")
    (heading,) = {chunk.heading_path[-1] for chunk in fragment.chunks if len(chunk.heading_path) > 1}
    assert heading in ("Miscellaneous", printed)


def test_a_number_that_is_marked_up_takes_the_sign_after_it_along() -> None:
    page = b"<h1>Lamps</h1><h2><span class=secno>III</span> - Oil</h2><p>Oil burns.</p>"
    fragment = parse_file(page, "lamps.html")
    assert fragment.chunks[-1].heading_path[-1] == "Oil"


def test_headings_of_markdown_stay_as_they_are_written() -> None:
    text = b"# Lamps\n\n## PART III - MISCELLANEOUS\n\nWhatever else is said of lamps.\n"
    fragment = parse_file(text, "lamps.md")
    assert fragment.chunks[-1].heading_path[-1] == "PART III - MISCELLANEOUS"


@pytest.mark.data
def test_the_parts_of_a_real_contract_are_its_headings() -> None:
    (path,) = DATA.rglob("bookmark_sample.pdf")
    fragment = parse_file(path.read_bytes(), "contract.pdf")
    headings = {heading for chunk in fragment.chunks for heading in chunk.heading_path}
    assert {"DEFINITIONS", "OBLIGATIONS", "MISCELLANEOUS"} <= headings
    assert not [heading for heading in headings if not heading[0].isalnum()]


@pytest.mark.data
def test_no_bookmark_of_a_real_pdf_loses_a_word() -> None:
    """Contracts, manuals, theses and reports that others made."""
    changed = 0
    for path in sorted(DATA.rglob("*.pdf")):
        for printed in bookmarks(path):
            title = strip_numbering(printed)
            number = printed.removesuffix(title).strip(" .:-\u2013\u2014")
            assert title[0].isalnum() or title[0] == printed[0], f"{path.name}: {printed!r} became {title!r}"
            assert not number or is_bare_number(number), f"{path.name}: {printed!r} became {title!r}"
            changed += title != printed
    assert changed >= 10


def bookmarks(path: Path) -> list[str]:
    try:
        with pymupdf.open(path) as document:
            return [flat for _, title, _ in document.get_toc() if (flat := " ".join(title.split()))]
    except (RuntimeError, ValueError):
        return []
