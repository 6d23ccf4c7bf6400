"""Which lines are headings, how sure that is, and what path a passage has."""

from schemas.nodes import RegionType
from tests.fakes.pdfs import Text, chunk_with, heading, manual, manual_pages, parse, pdf_bytes, prose, regions


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
    fragment = parse(pdf_bytes(manual_pages()))

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
