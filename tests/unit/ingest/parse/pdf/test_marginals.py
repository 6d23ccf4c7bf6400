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


def test_numbers_that_count_on_end_their_pages_wherever_the_text_ends() -> None:
    """Browsers and filings set the number below the last line, not at the foot of the sheet."""
    document = new_pdf([[Text(prose(f"topic{number}", 1 + number))] for number in range(4)])
    for number, page in enumerate(document, 31):
        page.insert_text((290, 180 + 10 * number), f"{number}", fontsize=9)
    fragment = parse(document.tobytes())

    assert [region.text for region in regions(fragment, RegionType.FOOTER)] == ["31", "32", "33", "34"]
    assert [chunk.text[-1] for chunk in fragment.chunks] == ["."] * 4


def test_a_figure_that_ends_a_text_is_no_page_number() -> None:
    document = new_pdf([[Text(prose(f"topic{number}"))] for number in range(3)])
    for figure, page in zip((7, 120, 5), document, strict=True):
        page.insert_text((290, 400), f"{figure}", fontsize=9)
    fragment = parse(document.tobytes())

    assert regions(fragment, RegionType.FOOTER) == []


def feet(*numbers: int) -> list[str]:
    """Print a number at the foot of each page of text; give those that are footers."""
    document = new_pdf([[Text(prose(f"topic{number}"))] for number in numbers])
    for number, page in zip(numbers, document, strict=True):
        page.insert_text((290, page.rect.height - 30), f"{number}", fontsize=9)
    return [region.text for region in regions(parse(document.tobytes()), RegionType.FOOTER)]


def test_a_number_at_the_foot_is_a_footer_if_it_counts_the_pages_or_one_more_page_says_so() -> None:
    assert feet(1) == ["1"]
    assert feet(17, 18) == ["17", "18"]
    assert feet(17) == feet(17, 3) == []


def test_a_value_that_ends_the_text_of_a_page_is_in_its_passage() -> None:
    document = new_pdf([[Text(prose("lamp"))]])
    document[0].insert_text((72, 770), "Days until the warranty of the lamp ends:", fontsize=10)
    document[0].insert_text((72, 800), "30", fontsize=10)

    assert parse(document.tobytes()).chunks[-1].text.endswith("30")


def test_a_year_at_the_foot_of_a_title_page_stays_text() -> None:
    document = new_pdf([[Text(prose("harbour"))]])
    document[0].insert_text((290, document[0].rect.height - 30), "2019", fontsize=9)
    fragment = parse(document.tobytes())

    assert regions(fragment, RegionType.FOOTER) == []
    assert any("2019" in chunk.text for chunk in fragment.chunks)
