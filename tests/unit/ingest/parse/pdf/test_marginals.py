"""Running headers and footers are set aside, and nothing that only stands near them."""

import pymupdf

from schemas.nodes import RegionType
from tests.fakes.pdfs import Text, new_pdf, parse, prose, regions, set_block


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
