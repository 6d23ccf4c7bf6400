"""Pages have equal digests when they are drawn alike, whatever number, place or neighbours they have."""

from collections.abc import Callable
from typing import Any

import pymupdf
import pytest

from ingest.parse.pdf.page_cache import PageDigests
from tests.fakes.pdfs import Text, heading, new_pdf, prose, set_block

TOPICS = ("lamp", "plug", "switch", "shade")


def digests(document: Any, context: str = "") -> list[bytes | None]:
    """Of all pages, of the document as it is when saved."""
    with pymupdf.open(stream=document.tobytes(), filetype="pdf") as saved:
        found = PageDigests(saved, context=context)
        return [found.of(index) for index in range(saved.page_count)]


def book() -> Any:
    document = new_pdf([[heading(topic), Text(prose(topic))] for topic in TOPICS], toc=[(1, "lamp", 1)])
    for page in document:
        link = {"kind": pymupdf.LINK_GOTO, "page": 3, "to": pymupdf.Point(72, 100)}
        page.insert_link({**link, "from": pymupdf.Rect(72, 90, 120, 110)})
    return document


@pytest.mark.parametrize(
    ("edit", "order"),
    [
        (lambda document: document.new_page(pno=1), [0, None, 1, 2, 3]),
        (lambda document: document.delete_page(1), [0, 2, 3]),
        (lambda document: document.move_page(0, 3), [1, 2, 0, 3]),
        (lambda document: document.select([3, 0, 0]), [3, 0, 0]),
        (lambda document: document.set_toc([]), [0, 1, 2, 3]),
        (lambda document: document.set_metadata({"title": "Lamps"}), [0, 1, 2, 3]),
        (lambda document: set_block(document[2], Text("Lit."), 700), [0, 1, None, 3]),
    ],
    ids=["inserted", "removed", "moved", "repeated", "outline", "title", "changed"],
)
def test_a_page_keeps_its_digest_while_others_change(
    edit: Callable[[Any], object], order: list[int | None]
) -> None:
    document = book()
    before = digests(document)
    edit(document)
    after = digests(document)

    assert None not in before
    assert len(set(before)) == 4
    assert [before.index(one) if one in before else None for one in after] == order


def test_object_numbers_and_garbage_play_no_part() -> None:
    document = book()
    document.new_page(pno=0)
    document.delete_page(0)
    packed = pymupdf.open(stream=document.tobytes(garbage=4), filetype="pdf")

    assert digests(packed) == digests(book())


def test_where_the_length_of_a_stream_is_stated_plays_no_part() -> None:
    document = book()
    for page in document:
        (stream, *_) = page.get_contents()
        length = document.get_new_xref()
        document.update_object(length, str(len(document.xref_stream_raw(stream))))
        document.xref_set_key(stream, "Length", f"{length} 0 R")
    found = PageDigests(document, context="")

    assert [found.of(index) for index in range(4)] == digests(book())


def test_a_file_without_a_catalogue_has_no_digests() -> None:
    with pymupdf.open(stream=book().tobytes().replace(b"/Root", b"/Boot"), filetype="pdf") as document:
        assert PageDigests(document, context="").of(0) is None


def draw_over(document: Any) -> None:
    document[0].draw_rect(pymupdf.Rect(72, 300, 200, 400))


def crop(document: Any) -> None:
    document[0].set_cropbox(pymupdf.Rect(0, 0, 500, 700))


def crop_all_from_above(document: Any) -> None:
    parent = int(document.xref_get_key(document.page_xref(0), "Parent")[1].split()[0])
    document.xref_set_key(parent, "CropBox", "[0 0 500 700]")


def turn(document: Any) -> None:
    document[0].set_rotation(90)


def swap_font(document: Any) -> None:
    fonts = document.get_page_fonts(0)
    document.xref_set_key(fonts[0][0], "BaseFont", "/Courier")


def map_letters(document: Any) -> None:
    cmap = document.get_new_xref()
    document.update_object(cmap, "<<>>")
    document.update_stream(cmap, b"1 beginbfchar <41> <0042> endbfchar")
    document.xref_set_key(document.get_page_fonts(0)[0][0], "ToUnicode", f"{cmap} 0 R")


@pytest.mark.parametrize("edit", [draw_over, crop, crop_all_from_above, turn, swap_font, map_letters])
def test_whatever_changes_how_a_page_is_drawn_changes_its_digest(edit: Callable[[Any], None]) -> None:
    document = book()
    before = digests(document)
    edit(document)

    assert digests(document)[0] not in before


def test_a_picture_of_other_pixels_is_another_page() -> None:
    def scan(value: int) -> Any:
        document = pymupdf.open()
        pixels = pymupdf.Pixmap(pymupdf.csGRAY, 8, 8, bytes([value] * 64), False)
        document.new_page().insert_image(pymupdf.Rect(0, 0, 100, 100), pixmap=pixels)
        return document

    assert digests(scan(1)) == digests(scan(1)) != digests(scan(2))


def test_the_text_of_a_tag_is_part_of_its_page_and_of_no_other() -> None:
    def tagged(said: str, *, also: str = "") -> Any:
        document = book()
        root, tree, one, other = (document.get_new_xref() for _ in range(4))
        elements = {one: said, other: also}
        for xref, text in elements.items():
            document.update_object(xref, f"<</S/Span/P {root} 0 R/ActualText({text})/K 0>>")
        document.update_object(tree, f"<</Nums[0[{one} 0 R]1[{other} 0 R]]>>")
        document.update_object(root, f"<</Type/StructTreeRoot/ParentTree {tree} 0 R>>")
        document.xref_set_key(document.pdf_catalog(), "StructTreeRoot", f"{root} 0 R")
        for index in (0, 1):
            document.xref_set_key(document.page_xref(index), "StructParents", str(index))
        return document

    before, after = digests(tagged("lamp", also="plug")), digests(tagged("bulb", also="plug"))
    assert [one == other for one, other in zip(before, after, strict=True)] == [False, True, True, True]


def test_a_layer_that_is_switched_off_changes_the_pages() -> None:
    def layered(*, on: bool) -> Any:
        document = book()
        layer = document.add_ocg("notes", on=on)
        document[0].insert_text((72, 700), "Only seen with notes.", oc=layer)
        return document

    assert digests(layered(on=True))[0] != digests(layered(on=False))[0]


def test_the_context_is_part_of_every_digest() -> None:
    assert not set(digests(book(), "tesseract 5")) & set(digests(book(), "tesseract 6"))


def test_a_page_with_notes_has_no_digest() -> None:
    document = book()
    document[1].add_freetext_annot(pymupdf.Rect(72, 500, 300, 540), "A note is text as well.")

    assert [one is None for one in digests(document)] == [False, True, False, False]


def test_objects_that_lead_to_each_other_come_to_an_end() -> None:
    document = book()
    ring = document.get_new_xref()
    document.update_object(ring, f"<</Self {ring} 0 R>>")
    resources = int(document.xref_get_key(document.page_xref(0), "Resources")[1].split()[0])
    before = digests(document)[0]
    document.xref_set_key(resources, "Properties", f"{ring} 0 R")

    assert digests(document)[0] not in (None, before)
