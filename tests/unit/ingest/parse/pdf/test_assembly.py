"""Pages and regions of a PDF become nodes, edges and chunks, each at its place."""

import pymupdf

from schemas.edges import EdgeKind
from schemas.nodes import PdfPage, PdfRegion, RegionType
from tests.fakes.pdfs import Text, heading, manual, new_pdf, parse, pdf_bytes, prose, regions


def test_document_holds_pages_pages_hold_regions_and_regions_hold_chunks() -> None:
    fragment = parse(manual())

    kinds = {node.id: type(node).__name__ for node in fragment.nodes}
    contains = {
        (kinds[edge.src], kinds[edge.dst]) for edge in fragment.edges if edge.kind is EdgeKind.CONTAINS
    }
    assert contains == {("PdfDoc", "PdfPage"), ("PdfPage", "PdfRegion"), ("PdfRegion", "ChunkNode")}
    materialized = {edge.src: edge.dst for edge in fragment.edges if edge.kind is EdgeKind.MATERIALIZED_FROM}
    assert materialized == {chunk.id: chunk.region_id for chunk in fragment.chunks}
    assert len({node.id for node in fragment.nodes}) == len(fragment.nodes)
    assert len({edge.id for edge in fragment.edges}) == len(fragment.edges)


def test_each_chunk_is_a_slice_of_exactly_one_region() -> None:
    fragment = parse(pdf_bytes([[heading("Long"), Text(prose("rope", 60), columns=95)]]))

    texts = {node.id: node.text for node in fragment.nodes if isinstance(node, PdfRegion)}
    assert len(fragment.chunks) > 2
    for chunk in fragment.chunks:
        assert texts[str(chunk.region_id)][slice(*chunk.offsets)] == chunk.text
        assert chunk.token_count <= 250


def test_chunks_of_one_region_have_the_boxes_of_their_own_lines() -> None:
    fragment = parse(pdf_bytes([[Text(prose("rope", 60), columns=95)]]))

    tops = [chunk.bbox.y0 for chunk in fragment.chunks if chunk.bbox]
    assert len(tops) > 2
    assert tops == sorted(set(tops))


def test_pages_carry_their_number_and_label() -> None:
    document = new_pdf([[Text(prose("lamp"))], [Text(prose("plug"))]])
    document.set_page_labels([{"startpage": 0, "prefix": "", "style": "r", "firstpagenum": 1}])
    fragment = parse(document.tobytes())

    pages = [node for node in fragment.nodes if isinstance(node, PdfPage)]
    assert [(page.page_no, page.page_label) for page in pages] == [(1, "i"), (2, "ii")]


def test_a_sentence_cut_by_the_page_end_joins_two_chunks_by_next() -> None:
    pages = [
        [Text("A lamp that is left burning while nobody is in the")],
        [Text("room costs money for nothing.")],
    ]
    fragment = parse(pdf_bytes(pages))

    joined = [(edge.src, edge.dst) for edge in fragment.edges if edge.kind is EdgeKind.NEXT]
    assert joined == [(fragment.chunks[0].id, fragment.chunks[1].id)]


def test_a_picture_at_the_foot_of_the_page_stands_between_the_parts_of_a_paragraph() -> None:
    document = new_pdf(
        [
            [Text("A lamp that is left burning while nobody is in the"), Text("Figure 1: A lamp that burns")],
            [Text("room costs money for nothing.")],
        ]
    )
    picture = pymupdf.Pixmap(pymupdf.csRGB, (0, 0, 50, 50))
    document[0].insert_image(pymupdf.Rect(72, 140, 300, 300), pixmap=picture)
    fragment = parse(document.tobytes())

    texts = {chunk.id: chunk.text for chunk in fragment.chunks}
    joined = [(texts[edge.src], texts[edge.dst]) for edge in fragment.edges if edge.kind is EdgeKind.NEXT]
    assert joined == [("A lamp that is left burning while nobody is in the", "room costs money for nothing.")]
    assert [figure.caption for figure in regions(fragment, RegionType.FIGURE)] == [
        "Figure 1: A lamp that burns"
    ]


def test_a_sentence_that_ends_with_its_page_joins_nothing() -> None:
    fragment = parse(pdf_bytes([[Text("Lamps cost money.")], [Text("in the room it is dark")]]))

    assert not [edge for edge in fragment.edges if edge.kind is EdgeKind.NEXT]


def test_file_id_is_the_name_of_the_file_or_the_last_part_of_the_url() -> None:
    data = pdf_bytes([[Text(prose("lamp"))]])

    assert parse(data, path="guides/lamps.pdf", url=None, uri="files://docs/guides/lamps.pdf").chunks[
        0
    ].file_id == ("lamps.pdf")
    assert parse(data, name="dir/Lamp%20Manual.pdf").chunks[0].file_id == "Lamp Manual.pdf"


def test_pages_and_regions_of_a_pdf_have_hashes_that_change_with_what_they_say() -> None:
    def hashes(last: str) -> tuple[list[str], list[str]]:
        nodes = parse(pdf_bytes([[Text(prose("bell"))], [Text(prose("lantern")), Text(last)]])).nodes
        pages = [node.content_hash for node in nodes if isinstance(node, PdfPage)]
        return pages, [node.content_hash for node in nodes if isinstance(node, PdfRegion)]

    before, after = hashes(prose("gate")), hashes(prose("door"))
    assert [one == other for one, other in zip(before[0], after[0], strict=True)] == [True, False]
    assert [one == other for one, other in zip(before[1], after[1], strict=True)] == [True, False]
    assert len({*before[0], *before[1]}) == 4
