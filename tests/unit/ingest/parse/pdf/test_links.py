"""Links of a PDF: where they lead, inside the document and out of it, and what they say."""

from typing import Any

import pymupdf
import pytest

from schemas.edges import Edge, EdgeKind, LinkPosition
from schemas.fragment import GraphFragment
from schemas.nodes import PdfPage, PdfRegion
from tests.fakes.pdfs import HEIGHT, Text, heading, new_pdf, parse, prose


def saved(document: Any) -> Any:
    return pymupdf.open(stream=document.tobytes(), filetype="pdf")


def handbook() -> Any:
    """Two pages; the second has two headings, both bookmarked."""
    pages = [
        [heading("Setting up"), Text(prose("lamp"))],
        [
            heading("Daily use"),
            Text(prose("switch")),
            heading("Repairs"),
            Text(prose("bulb")),
            Text(prose("fuse", 9)),
        ],
    ]
    return new_pdf(pages, title="Lamps")


def link(document: Any, words: str, destination: str) -> None:
    """Lay a link with *destination*, as PDF source, over the words on the first page."""
    page = document[0]
    x0, y0, x1, y1 = page.search_for(words)[0]
    xref = document.get_new_xref()
    rect = f"[{x0} {HEIGHT - y1} {x1} {HEIGHT - y0}]"
    document.update_object(xref, f"<< /Type /Annot /Subtype /Link /Rect {rect} /Dest {destination} >>")
    kind, others = document.xref_get_key(page.xref, "Annots")
    known = others.strip("[]") if kind == "array" else ""
    document.xref_set_key(page.xref, "Annots", f"[{known} {xref} 0 R]")


def inner(fragment: GraphFragment) -> list[Edge]:
    return [edge for edge in fragment.edges if edge.kind is EdgeKind.LINKS_TO]


def ends(fragment: GraphFragment) -> list[tuple[str, str]]:
    """What stands at both ends of each link; "page 2" for a page."""
    said = {node.id: node.text for node in fragment.nodes if isinstance(node, PdfRegion)}
    said |= {node.id: f"page {node.page_no}" for node in fragment.nodes if isinstance(node, PdfPage)}
    return [(said[edge.src], said[edge.dst]) for edge in inner(fragment)]


def test_a_link_inside_the_document_joins_the_region_it_stands_in_to_the_one_it_lands_on() -> None:
    document = handbook()
    top = document[1].search_for("bulb of step 1")[0].y0
    link(document, "step 1", f"[{document.page_xref(1)} 0 R /XYZ 72 {HEIGHT - top + 3} 0]")
    fragment = parse(document.tobytes())

    ((src, dst),) = ends(fragment)
    assert src.startswith("The lamp")
    assert dst.startswith("The bulb")
    (edge,) = inner(fragment)
    assert (edge.anchor_text, edge.position, edge.count) == ("step 1", LinkPosition.BODY, 1)
    assert fragment.links == ()


def test_a_named_destination_is_followed_and_kept_by_name() -> None:
    document = handbook()
    top = document[1].search_for("Repairs")[0].y0
    place = document.get_new_xref()
    document.update_object(place, f"[{document.page_xref(1)} 0 R /XYZ 72 {HEIGHT - top + 8} 0]")
    document.xref_set_key(document.pdf_catalog(), "Dests", f"<< /repairs {place} 0 R >>")
    link(document, "step 1", "/repairs")
    fragment = parse(document.tobytes())

    assert [dst for _, dst in ends(fragment)] == ["Repairs"]
    assert [edge.fragment for edge in inner(fragment)] == ["repairs"]


def test_a_link_that_points_where_a_bookmark_does_lands_on_its_heading_though_text_lies_between() -> None:
    document = handbook()
    high = document[1].search_for("Repairs")[0].y0 - 40
    document.set_toc(
        [
            [1, "Setting up", 1],
            [1, "Repairs", 2, {"kind": pymupdf.LINK_GOTO, "to": pymupdf.Point(72, high), "page": 1}],
        ]
    )
    link(document, "step 1", f"[{document.page_xref(1)} 0 R /XYZ 72 {HEIGHT - high} 0]")

    assert [dst for _, dst in ends(parse(document.tobytes()))] == ["Repairs"]


def test_a_destination_without_a_height_is_the_page() -> None:
    document = handbook()
    link(document, "step 1", f"[{document.page_xref(1)} 0 R /Fit]")

    assert [dst for _, dst in ends(parse(document.tobytes()))] == ["page 2"]


@pytest.mark.parametrize("named", [False, True], ids=["direct", "named"])
def test_heights_count_from_the_cropbox(named: bool) -> None:
    document = handbook()
    top = document[1].search_for("Repairs")[0].y0
    document = saved(document)
    place = f"[{document.page_xref(1)} 0 R /XYZ 72 {HEIGHT - top + 4} 0]"
    xref = document.get_new_xref()
    document.update_object(xref, place)
    document.xref_set_key(document.pdf_catalog(), "Dests", f"<< /repairs {xref} 0 R >>")
    link(document, "step 1", "/repairs" if named else place)
    document[1].set_cropbox(pymupdf.Rect(0, 60, 595, HEIGHT - 10))

    assert [dst for _, dst in ends(parse(document.tobytes()))] == ["Repairs"]


def test_in_two_columns_a_link_lands_in_the_column_it_points_at() -> None:
    document = new_pdf([[Text(prose("lamp"))]])
    page = document.new_page(width=595, height=HEIGHT)
    for left, topics in ((60, ("plug", "cable")), (320, ("switch", "dimmer"))):
        for row, topic in enumerate(topics):
            top = 100 + 150 * row
            page.insert_text((left, top), topic.title(), fontsize=14, fontname="hebo")
            page.insert_textbox(
                pymupdf.Rect(left, top + 10, left + 210, top + 130), prose(topic, 3), fontsize=9
            )
    link(document, "step 1", f"[{document.page_xref(1)} 0 R /XYZ 320 {HEIGHT - 230} 0]")

    assert [dst for _, dst in ends(parse(document.tobytes()))] == ["Dimmer"]


def test_a_link_of_two_lines_is_one_link() -> None:
    document = new_pdf([[Text("It is told in the chapter of\nrepairs and in others")], [heading("Repairs")]])
    for words in ("chapter of", "repairs"):
        link(document, words, f"[{document.page_xref(1)} 0 R /XYZ 72 800 0]")

    assert [edge.anchor_text for edge in inner(parse(document.tobytes()))] == ["chapter of repairs"]


def test_a_link_to_its_own_region_and_one_to_no_place_make_no_edge() -> None:
    document = handbook()
    own = document[0].search_for("lamp of step 1")[0].y0
    link(document, "step 1", f"[{document.page_xref(0)} 0 R /XYZ 72 {HEIGHT - own} 0]")
    link(document, "step 2", "/nowhere")

    assert inner(parse(document.tobytes())) == []


def test_links_of_running_headers_and_of_contents_are_no_links_of_the_text() -> None:
    rows = "\n".join(f"Topic number {number} {'. ' * 20}{number}" for number in range(2, 12))
    document = new_pdf([[heading("Contents"), Text(rows)], *([Text(prose(f"topic{n}"))] for n in range(9))])
    for page in document:
        page.insert_text((72, 40), "The Lamp Manual, volume 3", fontsize=9)
        rect = page.search_for("Lamp Manual")[0]
        uri = "https://docs.example/lamps"
        page.insert_link({"kind": pymupdf.LINK_URI, "from": rect, "uri": uri})
    link(document, "Topic number 4", f"[{document.page_xref(3)} 0 R /XYZ 72 760 0]")
    fragment = parse(document.tobytes())

    assert [edge.position for edge in inner(fragment)] == [LinkPosition.NAV]
    assert [(found.position, found.count) for found in fragment.links] == [(LinkPosition.HEADER, 10)]


def test_content_hash_sees_where_links_of_the_text_lead() -> None:
    def book(destination: str) -> str:
        document = handbook()
        link(document, "step 1", destination.replace("PAGE", f"{document.page_xref(1)} 0 R"))
        return parse(document.tobytes()).content_hash

    assert book("[PAGE /XYZ 72 700 0]") == book("[PAGE /XYZ 72 700 0]")
    assert book("[PAGE /XYZ 72 700 0]") != book("[PAGE /XYZ 72 580 0]")


def test_an_inserted_page_leaves_the_edges_between_regions_as_they_are() -> None:
    def edges(pages_before: int) -> set[str]:
        document = handbook()
        top = document[1].search_for("Repairs")[0].y0
        link(document, "step 1", f"[{document.page_xref(1)} 0 R /XYZ 72 {HEIGHT - top + 3} 0]")
        for _ in range(pages_before):
            document.new_page(pno=0)
        return {edge.id for edge in inner(parse(document.tobytes()))}

    assert len(edges(0)) == 1
    assert edges(0) == edges(2)


def action(document: Any, words: str, source: str) -> None:
    """Lay a link with the action *source* over the words on the first page."""
    link(document, words, "[0 /Fit]")
    xref = document.xref_length() - 1
    document.xref_set_key(xref, "Dest", "null")
    document.xref_set_key(xref, "A", source)


@pytest.mark.parametrize(
    ("source", "leads_to"),
    [
        ("<< /S /URI /URI (http://docs.example/guide#top) >>", ("http://docs.example/guide", "top")),
        ("<< /S /URI /URI (../guide/index.html#top) >>", ("https://docs.example/guide/index.html", "top")),
        ("<< /S /URI /URI (www.lamps.example/shop) >>", ("http://www.lamps.example/shop", None)),
        ("<< /S /GoToR /F (bulbs.pdf) /D [3 /Fit] >>", ("https://docs.example/manuals/bulbs.pdf", "page=4")),
        ("<< /S /GoToR /F (bulbs.pdf) /D [0 /Fit] >>", ("https://docs.example/manuals/bulbs.pdf", None)),
    ],
)
def test_links_out_of_the_document_are_kept(source: str, leads_to: tuple[str, str | None]) -> None:
    document = handbook()
    action(document, "step 1", source)
    fragment = parse(document.tobytes(), name="manuals/lamps.pdf")

    assert [(found.target, found.fragment) for found in fragment.links] == [leads_to]
    assert [found.text for found in fragment.links] == ["step 1"]


@pytest.mark.parametrize(
    "source",
    [
        "<< /S /GoToR /F (/usr/share/doc/lamps.pdf) /D [0 /Fit] >>",
        "<< /S /GoToR /F (C:/lamps/lamps.pdf) /D [0 /Fit] >>",
        "<< /S /Launch /F (setup.exe) >>",
        "<< /S /JavaScript /JS (app.alert\\(1\\)) >>",
        "<< /S /URI /URI (mailto:lamps@example.org) >>",
    ],
)
def test_what_leads_to_no_document_is_no_link(source: str) -> None:
    document = handbook()
    action(document, "step 1", source)

    assert parse(document.tobytes()).links == ()


def test_of_equal_words_on_a_line_each_link_stands_at_its_own() -> None:
    document = pymupdf.open()
    page = document.new_page()
    page.insert_text((72, 90), "Harbours", fontsize=20)
    said = "The quay is long, so ask at the quay, or at that other quay, where boats wait."
    page.insert_text((72, 140), said, fontsize=11)
    for number, rect in enumerate(page.search_for("quay")):
        uri = f"https://docs.example/{number}.html"
        page.insert_link({"kind": pymupdf.LINK_URI, "from": rect, "uri": uri})
    fragment = parse(document.tobytes())

    texts = {chunk.id: chunk.text for chunk in fragment.chunks}
    links = sorted(fragment.links, key=lambda one: one.target)
    before = [texts[place.chunk][: place.offset] for one in links for place in one.places]
    assert [text.split()[-1] for text in before] == ["The", "the", "other"]


def test_links_without_words_on_one_line_have_a_place_each() -> None:
    document = pymupdf.open()
    page = document.new_page()
    page.insert_text((72, 140), "A line of the harbour book with room for two links on it.", fontsize=11)
    for number, x in enumerate((100, 200)):
        uri = f"https://docs.example/{number}.html"
        page.insert_link({"kind": pymupdf.LINK_URI, "from": pymupdf.Rect(x, 131, x + 0.5, 142), "uri": uri})
    fragment = parse(document.tobytes())

    assert [len(link.places) for link in fragment.links] == [1, 1]
