"""Text read anew from boxes of a page."""

import pytest

from ingest.parse.pdf.reading_back import texts_in_boxes
from schemas.errors import ParseError
from schemas.geometry import BBox
from tests.fakes.pdfs import Text, new_pdf


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
def test_the_text_in_a_box_is_given_whichever_way_the_page_is_turned(rotation: int) -> None:
    document = new_pdf([[Text("above"), Text("below")], [Text("next")]])
    document[0].set_rotation(rotation)
    # Baselines at 100 and 126 pt, type of 10 pt.
    places = [(1, BBox(70, 90, 200, 104)), (1, BBox(70, 116, 200, 130)), (2, BBox(70, 90, 200, 104))]
    assert [text.strip() for text in texts_in_boxes(document.tobytes(), places)] == ["above", "below", "next"]


def test_a_place_that_is_none_has_no_text() -> None:
    data = new_pdf([[Text("above")]]).tobytes()
    assert list(texts_in_boxes(data, [(None, None), (1, None), (9, BBox(0, 0, 9, 9))])) == ["", "", ""]


def test_what_is_no_pdf_is_refused() -> None:
    with pytest.raises(ParseError, match="not a PDF"):
        list(texts_in_boxes(b"<html>", []))
