"""A PDF as a whole: graph, headings, chunks, links, what is refused."""

import tarfile
import unicodedata
from pathlib import Path
from typing import Any

import pymupdf
import pytest

from schemas.edges import EdgeKind
from schemas.errors import ParseError
from schemas.fragment import GraphFragment
from schemas.nodes import Chunk, PdfDoc, PdfPage, PdfRegion, RegionType
from tests.fakes.pdfs import Text, code, heading, new_pdf, parse, pdf_bytes, prose, set_block

DATA = Path(__file__).parents[5].parent / "shared" / "data"


def regions(fragment: GraphFragment, kind: RegionType) -> list[PdfRegion]:
    return [node for node in fragment.nodes if isinstance(node, PdfRegion) and node.region_type is kind]


def chunk_with(fragment: GraphFragment, words: str) -> Chunk:
    return next(chunk for chunk in fragment.chunks if words in chunk.text)


def manual(**more: Any) -> bytes:
    pages = [
        [
            heading("1 Setting up"),
            Text(prose("lamp")),
            heading("1.1 Before you start", 13),
            Text(prose("plug")),
        ],
        [heading("2 Daily use"), Text(prose("switch")), Text(prose("shade"))],
    ]
    toc = [(1, "1 Setting up", 1), (2, "1.1 Before you start", 1), (1, "2 Daily use", 2)]
    return pdf_bytes(pages, toc=toc, title="The Lamp Manual", **more)


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


def test_heading_path_comes_from_the_outline_without_numbers_and_without_the_title() -> None:
    fragment = parse(manual())

    assert fragment.title == "The Lamp Manual"
    chunk = chunk_with(fragment, "plug")
    assert chunk.heading_path == ("Setting up", "Before you start")
    assert chunk.section == "Before you start"
    assert chunk.breadcrumbs == ("The Lamp Manual", "Setting up")
    assert chunk.structure_confidence == 1.0
    assert chunk_with(fragment, "switch").heading_path == ("Daily use",)


def test_without_an_outline_large_type_makes_headings_of_less_confidence() -> None:
    pages = [
        [
            heading("1 Setting up"),
            Text(prose("lamp")),
            heading("1.1 Before you start", 13),
            Text(prose("plug")),
        ],
        [heading("2 Daily use"), Text(prose("switch"))],
    ]
    fragment = parse(pdf_bytes(pages))

    chunk = chunk_with(fragment, "plug")
    assert chunk.heading_path == ("Setting up", "Before you start")
    assert chunk.structure_confidence == 0.7
    assert chunk_with(fragment, "switch").heading_path == ("Daily use",)


def test_a_single_largest_first_heading_is_the_title_and_in_no_path() -> None:
    pages = [[heading("Lamps for everyone", 22), heading("Setting up"), Text(prose("lamp"))]]
    pages.append([heading("Daily use"), Text(prose("switch"))])
    fragment = parse(pdf_bytes(pages))

    assert fragment.title == "Lamps for everyone"
    assert chunk_with(fragment, "lamp").heading_path == ("Setting up",)


def test_text_without_any_heading_is_kept_with_the_least_confidence_under_the_file_name() -> None:
    fragment = parse(pdf_bytes([[Text(prose("lamp"))]]))

    assert fragment.title == "manual.pdf"
    assert [chunk.heading_path for chunk in fragment.chunks] == [()]
    assert [chunk.structure_confidence for chunk in fragment.chunks] == [0.4]


def test_a_heading_followed_by_text_gives_no_chunk_and_a_bare_one_gives_its_own() -> None:
    fragment = parse(
        pdf_bytes([[heading("Household"), heading("Setting up", 13), Text(prose("lamp"))]], title="Lamps")
    )

    assert [chunk.text for chunk in fragment.chunks if "lamp" not in chunk.text] == ["Household"]
    assert [region.text for region in regions(fragment, RegionType.HEADING)] == ["Household", "Setting up"]


def test_running_headers_and_page_numbers_are_regions_but_no_chunks() -> None:
    document = new_pdf([[Text(prose(f"topic{number}"))] for number in range(6)])
    for number, page in enumerate(document, 1):
        page.insert_text((72, 40), "The Lamp Manual, volume 3", fontsize=9)
        page.insert_text((290, 820), f"{number}", fontsize=9)
    fragment = parse(document.tobytes())

    assert len(regions(fragment, RegionType.HEADER)) == 6
    assert [region.text for region in regions(fragment, RegionType.FOOTER)] == list("123456")
    assert len(fragment.chunks) == 6
    assert not any("volume" in chunk.text for chunk in fragment.chunks)


def test_body_text_that_reaches_into_a_narrow_margin_stays_body_text() -> None:
    document = pymupdf.open()
    topics = ["lamp", "plug", "switch", "shade", "bulb"]
    for topic in topics:
        set_block(document.new_page(), Text(prose(topic, 12)), 30)
    fragment = parse(document.tobytes())

    assert regions(fragment, RegionType.HEADER) == []
    assert [chunk.text.split()[1] for chunk in fragment.chunks] == topics


def test_inserting_a_page_changes_no_chunk_id_and_adds_only_its_own() -> None:
    topics = ["lamp", "plug", "switch", "shade", "bulb"]
    before = new_pdf([[heading(topic), Text(prose(topic, 20))] for topic in topics])
    old = parse(before.tobytes())
    set_block(before.new_page(pno=2), Text(prose("fuse", 20)), 100)
    new = parse(before.tobytes())

    old_ids, new_ids = {chunk.id for chunk in old.chunks}, {chunk.id for chunk in new.chunks}
    assert old_ids < new_ids
    added = [chunk for chunk in new.chunks if chunk.id not in old_ids]
    assert {chunk.page_no for chunk in added} == {3}


def test_parsing_twice_gives_equal_fragments() -> None:
    assert parse(manual()) == parse(manual())


def test_content_hash_sees_text_and_not_running_footers() -> None:
    def book(footer: str, topic: str) -> bytes:
        document = new_pdf([[Text(prose(f"{topic}{number}"))] for number in range(5)])
        for page in document:
            page.insert_text((72, 820), footer, fontsize=9)
        return bytes(document.tobytes())

    assert (
        parse(book("printed today", "lamp")).content_hash == parse(book("printed later", "lamp")).content_hash
    )
    assert (
        parse(book("printed today", "lamp")).content_hash != parse(book("printed today", "bulb")).content_hash
    )


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
def test_boxes_are_in_unrotated_cropbox_points(rotation: int) -> None:
    document = pymupdf.open()
    page = document.new_page(width=400, height=300)
    page.insert_text((60, 80), "Turn the page to read this line", fontsize=12)
    page.set_cropbox(pymupdf.Rect(20, 10, 380, 290))
    page.set_rotation(rotation)
    chunk = parse(document.tobytes()).chunks[0]

    assert chunk.bbox is not None
    assert chunk.page_size is not None
    assert (chunk.page_size.width, chunk.page_size.height) == (360, 280)
    assert chunk.bbox.x0 == pytest.approx(40, abs=0.5)
    assert chunk.bbox.y0 < 70 < chunk.bbox.y1


def test_text_that_runs_over_the_edge_of_the_page_is_read_as_far_as_it_is_on_it() -> None:
    document = pymupdf.open()
    page = document.new_page(width=400, height=300)
    page.insert_text((320, 80), "www.lamps.example", fontsize=12)
    (chunk,) = parse(document.tobytes()).chunks

    assert chunk.bbox is not None
    assert chunk.bbox.x1 == 400
    clip = pymupdf.Rect(chunk.bbox.x0 - 1, chunk.bbox.y0 - 1, chunk.bbox.x1 + 1, chunk.bbox.y1 + 1)
    assert page.get_text("text", clip=clip).strip() == chunk.text == "www.lamps.exa"


def test_pages_carry_their_number_and_label() -> None:
    document = new_pdf([[Text(prose("lamp"))], [Text(prose("plug"))]])
    document.set_page_labels([{"startpage": 0, "prefix": "", "style": "r", "firstpagenum": 1}])
    fragment = parse(document.tobytes())

    pages = [node for node in fragment.nodes if isinstance(node, PdfPage)]
    assert [(page.page_no, page.page_label) for page in pages] == [(1, "i"), (2, "ii")]


def test_links_are_canonical_counted_and_carry_the_text_under_them() -> None:
    document = new_pdf([[Text("Read the guide first")]])
    page = document[0]
    for uri in (
        "https://docs.example/a/../guide#top",
        "https://docs.example/guide#top",
        "mailto:me@example.org",
    ):
        page.insert_link({"kind": pymupdf.LINK_URI, "from": page.search_for("guide")[0], "uri": uri})
    fragment = parse(document.tobytes())

    assert [(link.target, link.fragment, link.text, link.count) for link in fragment.links] == [
        ("https://docs.example/guide", "top", "guide", 2)
    ]


def test_a_page_with_too_many_annotations_is_read_without_its_links() -> None:
    document = new_pdf([[Text("Read the guide first")]])
    page = document[0]
    rect = page.search_for("guide")[0]
    page.insert_link({"kind": pymupdf.LINK_URI, "from": rect, "uri": "https://docs.example/guide"})
    document = pymupdf.open(stream=document.tobytes(), filetype="pdf")
    xref = document[0].get_links()[0]["xref"]
    document.xref_set_key(document.page_xref(0), "Annots", f"[{f'{xref} 0 R ' * 3000}]")
    fragment = parse(document.tobytes())

    assert fragment.links == ()
    assert len(fragment.chunks) == 1
    assert any("3000 annotations" in warning for warning in fragment.warnings)


def test_code_keeps_its_lines_and_indentation() -> None:
    listing = "\n".join(f"    value_{number} = load(number={number}, strict=True)" for number in range(12))
    fragment = parse(pdf_bytes([[Text(prose("lamp")), code(f"def main():\n{listing}"), Text(prose("plug"))]]))

    assert [region.text for region in regions(fragment, RegionType.CODE)] == [f"def main():\n{listing}"]


def test_a_small_listing_stays_with_its_paragraph() -> None:
    fragment = parse(
        pdf_bytes([[Text("Switch it on with this command:"), code("lamp --on"), Text(prose("plug"))]])
    )

    assert len(fragment.chunks) == 1
    assert "command:\n\nlamp --on\n\nThe plug" in fragment.chunks[0].text
    assert "--on" in fragment.chunks[0].codes


def test_a_ruled_table_is_one_region_with_a_row_a_line_and_its_caption() -> None:
    document = new_pdf([[Text("The lamps differ in price."), Text("Table 1: Prices of lamps")]])
    page = document[0]
    for row, cells in enumerate([("Lamp", "Price"), ("Desk lamp", "12"), ("Floor lamp", "40")]):
        for column, cell in enumerate(cells):
            box = pymupdf.Rect(72 + column * 120, 150 + row * 20, 192 + column * 120, 170 + row * 20)
            page.draw_rect(box)
            page.insert_text((box.x0 + 4, box.y1 - 6), cell, fontsize=10)
    fragment = parse(document.tobytes())

    assert [table.text for table in regions(fragment, RegionType.TABLE)] == [
        "Lamp\tPrice\nDesk lamp\t12\nFloor lamp\t40"
    ]
    assert chunk_with(fragment, "Desk lamp").captions == ("Table 1: Prices of lamps",)
    assert [table.caption for table in regions(fragment, RegionType.TABLE)] == ["Table 1: Prices of lamps"]
    assert not any("Floor lamp" in chunk.text for chunk in fragment.chunks if "Desk" not in chunk.text)


def test_contents_pages_are_regions_but_no_chunks() -> None:
    rows = "\n".join(f"Topic number {number} {'. ' * 20}{number}" for number in range(2, 12))
    pages = [[heading("Contents"), Text(rows)], *([Text(prose(f"topic{number}", 8))] for number in range(9))]
    fragment = parse(pdf_bytes(pages))

    assert not any(". . ." in chunk.text for chunk in fragment.chunks)
    assert any(". . ." in region.text for region in regions(fragment, RegionType.LIST))


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


def test_noindex_leaves_the_document_node_alone() -> None:
    fragment = parse(manual(), x_robots_tag="noindex, nofollow")

    assert [type(node) for node in fragment.nodes] == [PdfDoc]
    assert (fragment.chunks, fragment.noindex, fragment.nofollow) == ((), True, True)


def test_a_page_of_pictures_only_is_said_to_be_so() -> None:
    document = pymupdf.open()
    page = document.new_page()
    page.insert_image(pymupdf.Rect(72, 72, 300, 300), pixmap=pymupdf.Pixmap(pymupdf.csRGB, (0, 0, 50, 50)))
    fragment = parse(document.tobytes())

    assert fragment.warnings == ("image_only",)
    assert len(regions(fragment, RegionType.FIGURE)) == 1


def test_a_page_that_cannot_be_read_costs_only_itself() -> None:
    document = new_pdf([[Text(prose(topic))] for topic in ("lamp", "plug", "bulb")])
    document.update_object(document.page_xref(1), "<< /Type /Page /MediaBox 7 /Parent null >>")
    fragment = parse(document.tobytes())

    assert {chunk.page_no for chunk in fragment.chunks} == {1, 3}


def test_a_locked_document_needs_a_password() -> None:
    locked = new_pdf([[Text(prose("lamp"))]]).tobytes(
        encryption=pymupdf.PDF_ENCRYPT_AES_256, user_pw="user", owner_pw="owner"
    )

    with pytest.raises(ParseError, match="needs_password"):
        parse(locked)


def test_an_owner_password_alone_does_not_keep_readers_out() -> None:
    guarded = new_pdf([[Text(prose("lamp"))]]).tobytes(
        encryption=pymupdf.PDF_ENCRYPT_AES_256, owner_pw="owner"
    )

    assert len(parse(guarded).chunks) == 1


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"<html><body>no PDF</body></html>", id="a web page"),
        pytest.param(b"%PDF-1.7\nnothing of the kind", id="header only"),
        pytest.param(b"<html>%PDF-1.7</html>", id="a web page that names PDF"),
    ],
)
def test_what_is_no_pdf_is_a_parse_error_with_its_subject(data: bytes) -> None:
    with pytest.raises(ParseError) as caught:
        parse(data)

    assert caught.value.subject == "https://docs.example/manual.pdf"


def twin(name: str, path: str, version: str) -> bytes:
    with tarfile.open(DATA / "twins" / f"{name}.tar.xz") as archive:
        content = archive.extractfile(f"./{version}/{path}")
        assert content is not None
        return content.read()


def squeezed(text: str) -> str:
    return "".join(unicodedata.normalize("NFKC", text).replace("\u00ad", "").replace("-", "").split())


@pytest.mark.data
def test_text_of_nearly_every_chunk_of_a_real_manual_is_found_at_its_box() -> None:
    path = "usr/share/developers-reference/developers-reference.pdf"
    data = twin("developers-reference", path, "12.18")
    fragment = parse(data)

    document = pymupdf.open(stream=data, filetype="pdf")
    found = 0
    for chunk in fragment.chunks:
        assert chunk.bbox is not None
        box = (chunk.bbox.x0 - 1, chunk.bbox.y0 - 1, chunk.bbox.x1 + 1, chunk.bbox.y1 + 1)
        printed = document[int(chunk.page_no or 0) - 1].get_text("text", clip=pymupdf.Rect(box))
        found += squeezed(chunk.text) in squeezed(printed)
    assert len(fragment.chunks) > 300
    assert found >= 0.995 * len(fragment.chunks)


@pytest.mark.data
def test_every_bookmark_of_a_real_manual_is_found_as_a_heading() -> None:
    path = "usr/share/developers-reference/developers-reference.pdf"
    data = twin("developers-reference", path, "12.18")

    titles = [title for _, title, _ in pymupdf.open(stream=data, filetype="pdf").get_toc()]
    fragment = parse(data)
    assert len(regions(fragment, RegionType.HEADING)) == len(titles)
    assert {chunk.heading_path for chunk in fragment.chunks if "wanna-build" in chunk.text} >= {
        (
            "Managing Packages",
            "Porting and being ported",
            "Porting infrastructure and automation",
            "wanna-build",
        )
    }
