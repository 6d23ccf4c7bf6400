"""Ids by the table of docs/rules/ids.md; a changed id here is a breaking change."""

from schemas.ids import (
    Occurrences,
    chunk_id,
    edge_id,
    normalise_text,
    page_id,
    pdf_doc_id,
    pdf_page_id,
    pdf_region_id,
    section_id,
)

URL = "https://docs.example.org/handbook/"
PINNED = {
    "page": "page:2q2ardyzvahofbuiv2b4ucfpum",
    "pdfdoc": "pdfdoc:p5ad7y3fnbh3xds7aoqhfpmmvq",
    "section": "section:f3gja7ywhuwkke64lrwpwpyo5y",
    "chunk": "chunk:3hych62t3cimkjcx77tet67p6u",
    "pdfpage": "pdfpage:z3mhzuyv4itks4zvmpjdeuqt2q",
    "pdfregion": "pdfregion:zdt7esyjyzaoj36j242nvpyale",
    "edge": "edge:3kygpv6ccp62estdisob32uleu",
}


def test_ids_stay_what_they_have_always_been() -> None:
    doc = page_id(URL)
    assert {
        "page": doc,
        "pdfdoc": pdf_doc_id(URL),
        "section": section_id(doc, ("Handbook", "Leave"), 0),
        "chunk": chunk_id(doc, ("Handbook", "Leave"), "Ask two weeks ahead.", 0),
        "pdfpage": pdf_page_id(doc, 3),
        "pdfregion": pdf_region_id(doc, "paragraph", "Ask two weeks ahead.", 0),
        "edge": edge_id("links_to", doc, doc, "leave", "body", ""),
    } == PINNED


def test_a_page_and_a_pdf_at_one_address_are_two_documents() -> None:
    assert page_id(URL).partition(":")[2] != pdf_doc_id(URL).partition(":")[2]


def test_the_same_text_under_another_heading_is_another_chunk() -> None:
    assert chunk_id("d", ("A",), "text", 0) != chunk_id("d", ("B",), "text", 0)


def test_a_heading_cannot_pass_for_text() -> None:
    assert chunk_id("d", ("A", "B"), "", 0) != chunk_id("d", ("A",), "B", 0) != chunk_id("d", (), "A B", 0)


def test_a_region_does_not_depend_on_its_page_but_a_page_on_its_number() -> None:
    assert pdf_page_id("d", 1) != pdf_page_id("d", 2)
    assert pdf_region_id("d", "list", "one  two", 0) == pdf_region_id("d", "list", "one two", 0)


def test_parallel_edges_are_told_apart_by_their_qualifier() -> None:
    ids = {edge_id("links_to", "a", "b", *q) for q in [("x", "nav", ""), ("x", "body", ""), ("y", "nav", "")]}
    assert len(ids) == 3


def test_occurrences_count_equals_only() -> None:
    occurrences = Occurrences()
    assert [occurrences.number(*key) for key in [("a",), ("b",), ("a",), ("a", "b"), ("a",)]] == [
        0,
        0,
        1,
        0,
        2,
    ]


def test_normal_text_is_composed_and_single_spaced() -> None:
    assert normalise_text(" cafe\u0301 \n\t a\u00a0la ") == "café a la"
