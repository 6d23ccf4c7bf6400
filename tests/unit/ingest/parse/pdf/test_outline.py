"""Titles without their numbers, and bookmarks without a place."""

import pymupdf
import pytest

from ingest.parse.pdf.outline import is_numbering, read_outline, strip_numbering, title_key


@pytest.mark.parametrize(
    ("printed", "title"),
    [
        ("Chapter 3. Lamps", "Lamps"),
        ("CHAPTER TWENTYONE Lamps", "Lamps"),
        ("Appendix B Lamps", "Lamps"),
        ("3.2  Lamps and   plugs", "Lamps and plugs"),
        ("4.6.4.3 Experimental", "Experimental"),
        ("A.1 Lamps", "Lamps"),
        ("7. Lamps", "Lamps"),
        ("A lamp for everyone", "A lamp for everyone"),
        ("Part of the lamp", "Part of the lamp"),
        ("2024 in figures", "2024 in figures"),
        ("3.2", "3.2"),
        ("Chapter 9", "Chapter 9"),
    ],
)
def test_numbering_is_dropped_where_a_title_is_left(printed: str, title: str) -> None:
    assert strip_numbering(printed) == title


@pytest.mark.parametrize("text", ["CHAPTER", "ONE", "TWENTYTHREE", "3.1.11", "Appendix A", "IV"])
def test_what_is_printed_above_a_title_is_numbering(text: str) -> None:
    assert is_numbering(text)


@pytest.mark.parametrize("text", ["Lamps", "One lamp", "3.1 Lamps", "Parts"])
def test_a_title_is_not_numbering(text: str) -> None:
    assert not is_numbering(text)


def test_titles_are_compared_without_case_signs_and_ligatures() -> None:
    assert title_key("De\ufb01ne the “LAMP”-shade") == title_key("define the lamp shade")


def test_a_bookmark_to_a_whole_page_has_no_height() -> None:
    document = pymupdf.open()
    document.new_page()
    document.set_toc([[1, "1 Lamps", 1, 0]])
    xref = document.get_toc(simple=False)[0][3]["xref"]
    document.xref_set_key(xref, "Dest", f"[{document.page_xref(0)} 0 R /Fit]")

    assert [(entry.title, entry.page_no, entry.y) for entry in read_outline(document)] == [("Lamps", 1, None)]


def test_a_named_destination_counts_from_the_bottom_of_the_page() -> None:
    document = pymupdf.open()
    page = document.new_page(height=800)
    document.set_toc([[1, "Lamps", 1, 0]])
    xref = document.get_toc(simple=False)[0][3]["xref"]
    names = document.get_new_xref()
    document.update_object(names, f"<< /lamps [{page.xref} 0 R /XYZ 72 700 0] >>")
    document.xref_set_key(document.pdf_catalog(), "Dests", f"{names} 0 R")
    document.xref_set_key(xref, "Dest", "/lamps")
    document = pymupdf.open(stream=document.tobytes(), filetype="pdf")

    assert [entry.y for entry in read_outline(document)] == [100.0]
