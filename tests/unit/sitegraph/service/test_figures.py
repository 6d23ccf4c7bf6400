"""Which figure of its page a passage tells of, and where all of that figure is."""

from dataclasses import replace

import pytest

from schemas.nodes import BBox, PageSize, PdfRegion, RegionType
from sitegraph.service.figures import select_figure
from tests.fakes.pdfs import manual, parse

CHUNK = parse(manual()).chunks[0]
CAPTION = "Figure 3: The lock of a canal"
Place = tuple[float, float, float, float]


def region(
    id_: str, type_: RegionType, place: Place, text: str = "", caption: str | None = None
) -> PdfRegion:
    return PdfRegion(
        id=id_,
        doc="d",
        source="s",
        region_type=type_,
        content_hash="",
        page_no=1,
        bbox=BBox(*place),
        text=text,
        ordinal=0,
        heading_path=(),
        caption=caption,
    )


def figure(*place: float, caption: str | None = None) -> PdfRegion:
    x0, y0, x1, y1 = place
    return region(f"figure {place}", RegionType.FIGURE, (x0, y0, x1, y1), caption=caption)


GATE = figure(50, 100, 250, 200, caption=CAPTION)
STRIP = figure(50, 202, 250, 260)
MAP = figure(300, 100, 500, 260, caption="Figure 4: The river")
SCAN = figure(0, 0, 600, 800)


@pytest.mark.parametrize(
    ("type_", "text", "place", "figures", "expected"),
    [
        (RegionType.CAPTION, CAPTION, (50, 270, 250, 280), [GATE, MAP], (50, 100, 250, 200)),
        (RegionType.CAPTION, CAPTION, (50, 270, 250, 280), [MAP, STRIP, GATE], (50, 100, 250, 260)),
        (RegionType.CAPTION, CAPTION, (50, 270, 250, 280), [MAP], None),
        (RegionType.CAPTION, "Table 1", (50, 270, 250, 280), [GATE, MAP], None),
        (
            RegionType.CAPTION,
            CAPTION,
            (300, 270, 500, 280),
            [GATE, replace(MAP, caption=f"{CAPTION} {MAP.caption}")],
            (300, 100, 500, 260),
        ),
        (RegionType.PARAGRAPH, "Sluice", (60, 110, 90, 120), [GATE, MAP], (50, 100, 250, 200)),
        (RegionType.PARAGRAPH, CAPTION, (50, 400, 250, 410), [GATE, MAP], None),
        (RegionType.PARAGRAPH, "Sluice", (60, 410, 90, 420), [SCAN], None),
        (RegionType.PARAGRAPH, "Sluice", (60, 410, 90, 420), [], None),
    ],
)
def test_a_caption_and_a_label_lead_to_the_whole_of_their_figure(
    type_: RegionType, text: str, place: Place, figures: list[PdfRegion], expected: Place | None
) -> None:
    own = region("own", type_, place, text)
    size = PageSize(600, 800)
    chunk = replace(CHUNK, text=text, region_id="own", page_no=1, bbox=own.bbox, page_size=size)
    assert select_figure(chunk, [*figures, own]) == (expected and BBox(*expected))


def test_a_passage_of_no_page_tells_of_no_figure() -> None:
    prose = replace(CHUNK, region_id=None, page_no=None, bbox=None, page_size=None)
    assert select_figure(prose, []) is None
