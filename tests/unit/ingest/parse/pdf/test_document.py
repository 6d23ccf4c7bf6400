"""A PDF as a whole: what it is known by, what changes that, and a real manual from end to end."""

import tarfile
import unicodedata

import pymupdf
import pytest

from schemas.nodes import PdfDoc, RegionType
from tests.fakes.pdfs import Text, heading, manual, new_pdf, parse, prose, regions, set_block
from tests.fakes.real_sites import DATA


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


def test_noindex_leaves_the_document_node_alone() -> None:
    fragment = parse(manual(), x_robots_tag="noindex, nofollow")

    assert [type(node) for node in fragment.nodes] == [PdfDoc]
    assert (fragment.chunks, fragment.noindex, fragment.nofollow) == ((), True, True)


def test_a_page_of_pictures_only_is_said_to_be_so() -> None:
    document = pymupdf.open()
    page = document.new_page()
    page.insert_image(pymupdf.Rect(72, 72, 300, 300), pixmap=pymupdf.Pixmap(pymupdf.csRGB, (0, 0, 50, 50)))
    fragment = parse(document.tobytes())

    assert fragment.warnings[0] == "image_only"
    assert "`ocr: true`" in fragment.warnings[1]
    assert len(regions(fragment, RegionType.FIGURE)) == 1


def twin(name: str, path: str, version: str) -> bytes:
    with tarfile.open(DATA / "twins" / f"{name}.tar.xz") as archive:
        content = archive.extractfile(f"./{version}/{path}")
        assert content is not None
        return content.read()


def squeezed(text: str) -> str:
    """As boxes are checked; brackets set marks of notes apart."""
    return "".join(
        unicodedata.normalize("NFKC", text).translate(dict.fromkeys(map(ord, "\u00ad-[]"))).split()
    )


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


@pytest.mark.data
def test_tables_that_a_real_manual_stores_last_on_their_pages_stand_under_the_headings_above_them() -> None:
    with pymupdf.open(DATA / "pdf-gold/docling-pdf/sources/redp5110_sampled.pdf") as document:
        document.select([7, 9, 10, 11])
        tables = regions(parse(document.tobytes()), RegionType.TABLE)

    assert [(table.page_no, table.heading_path[-1]) for table in tables] == [
        (1, "Verifying function usage IDs for RCAC with the FUNCTION_USAGE view"),
        (3, "Column mask"),
        (4, "Built-in global variables"),
    ]
