"""Large type is a label in a drawing that holds labels alone; over text in a panel it is a heading."""

import pymupdf
import pytest

from ingest.parse.pdf.captions import drawings_of_labels
from ingest.parse.pdf.lines import Block, Line
from ingest.parse.pdf.pictures import Picture
from schemas.nodes import BBox, RegionType
from tests.fakes.pdfs import chunk_with, parse, prose, regions

DRAWING = Picture(bbox=BBox(60, 100, 500, 400), digest="drawing:440x300:9")
SENTENCE = "The row permission applies to all references of the one table"


def block(*texts: str, size: float = 10.0, y: float = 200) -> Block:
    return tuple(
        Line(text=text, bbox=BBox(100, y + 12 * at, 400, y + 12 * at + 10), size=size)
        for at, text in enumerate(texts)
    )


@pytest.mark.parametrize(
    "texts",
    [
        pytest.param([block("Outer gate", "Inner gate", size=16)], id="labels"),
        pytest.param([block(SENTENCE, size=8)], id="explanation of one line, in type of its own"),
        pytest.param([block(SENTENCE, "in the database", y=500)], id="text below the drawing"),
    ],
)
def test_a_drawing_without_running_text_holds_labels(texts: list[Block]) -> None:
    assert drawings_of_labels([DRAWING], texts, body=10) == (DRAWING.bbox,)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(block(SENTENCE, "in the database", size=8), id="paragraph"),
        pytest.param(block(SENTENCE), id="one line in the type of the text"),
    ],
)
def test_a_drawing_with_running_text_is_a_panel(text: Block) -> None:
    assert drawings_of_labels([DRAWING], [block("Outer gate", size=16), text], body=10) == ()


def test_a_raster_image_is_no_drawing() -> None:
    image = Picture(bbox=DRAWING.bbox, digest="400:300:8:DeviceRGB:1200")

    assert drawings_of_labels([image], [], body=10) == ()


def test_the_heading_of_a_shaded_panel_with_text_and_a_figure_stays_a_heading() -> None:
    document = pymupdf.open()
    page = document.new_page(width=595, height=842)
    page.draw_rect((60, 220, 535, 560), fill=(0.95, 0.95, 0.95))
    page.insert_text((72, 250), "Installing the lamp", fontsize=18, fontname="hebo")
    page.insert_textbox((72, 265, 520, 420), prose("panel", 8), fontsize=10)
    page.draw_rect((150, 440, 400, 540))
    page.insert_text((72, 575), "Figure 1. The wiring of the lamp.", fontsize=9)
    page.insert_textbox((72, 600, 520, 760), prose("bulb", 6), fontsize=10)
    document.set_metadata({"title": "The Lamp Manual"})
    fragment = parse(document.tobytes())

    assert [one.text for one in regions(fragment, RegionType.HEADING)] == ["Installing the lamp"]
    assert chunk_with(fragment, "panel").heading_path == ("Installing the lamp",)
    assert chunk_with(fragment, "bulb").heading_path == ("Installing the lamp",)
