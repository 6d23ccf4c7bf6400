"""What is read of one page: boxes in its own points, and its links."""

import pymupdf
import pytest

from tests.fakes.pdfs import Text, new_pdf, one_link_many_times, parse


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
    fragment = parse(one_link_many_times(3000))

    assert fragment.links == ()
    assert len(fragment.chunks) == 1
    assert any("3000 annotations" in warning for warning in fragment.warnings)
