"""Titles as they are compared, and bookmarks without a place."""

import pymupdf

from ingest.parse.pdf.links import read_outline, title_key


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
