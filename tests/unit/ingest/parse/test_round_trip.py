"""Whether what a chunk cites is there."""

from dataclasses import replace

from ingest.parse.round_trip import RoundTrip, check_round_trips, raw_names
from schemas.fragment import GraphFragment
from schemas.geometry import BBox
from tests.fakes import pdfs
from tests.fakes.pages import parse_file, parse_page

PAGE = '<h1 id="top">Lamps</h1><p>A lamp gives light.</p><h2 ID=a&amp;b>Oil</h2><p>Oil burns.</p>'


def checked(fragment: GraphFragment, data: bytes) -> list[tuple[bool, bool | None]]:
    return [(trip.in_parent, trip.at_place) for trip in check_round_trips(fragment, data)]


def test_fragments_of_a_page_are_looked_up_in_its_bytes() -> None:
    fragment = parse_page(PAGE)
    assert [chunk.fragment for chunk in fragment.chunks] == ["top", "a&b"]
    assert checked(fragment, PAGE.encode()) == [(True, True), (True, True)]
    assert checked(fragment, PAGE.replace("top", "other").encode()) == [(True, False), (True, True)]


def test_a_chunk_whose_text_is_not_its_sections_is_told() -> None:
    fragment = parse_page(PAGE)
    first, second = fragment.chunks
    moved = replace(fragment, chunks=(replace(first, offsets=(1, 5)), replace(second, offsets=(90, 99))))
    assert [trip.in_parent for trip in check_round_trips(moved, PAGE.encode())] == [False, False]


def test_parts_of_a_long_table_hold_under_their_repeated_header() -> None:
    rows = "".join(f"<tr><td>lamp {n}</td><td>{'oil and wick ' * 6}</td></tr>" for n in range(30))
    page = f"<h1 id=t>Lamps</h1><table><tr><th>name</th><th>needs</th></tr>{rows}</table>"
    fragment = parse_page(page)
    assert len(fragment.chunks) > 1
    assert all(trip.holds for trip in check_round_trips(fragment, page.encode()))


def test_a_markdown_file_names_no_place_that_could_be_looked_up() -> None:
    text = "# Lamps\n\nA lamp gives light.\n"
    assert checked(parse_file(text), text.encode()) == [(True, None)]


def test_the_text_of_a_pdf_is_looked_up_in_its_box() -> None:
    data = pdfs.pdf_bytes([[pdfs.heading("Lamps"), pdfs.Text(pdfs.prose("lamp"))]])
    fragment = pdfs.parse(data)
    assert checked(fragment, data) == [(True, True)]
    elsewhere = replace(fragment.chunks[0], bbox=BBox(0, 700, 500, 800))
    assert checked(replace(fragment, chunks=(elsewhere,)), data) == [(True, False)]


def test_a_rotated_page_is_read_back_as_it_lies() -> None:
    document = pdfs.new_pdf([[pdfs.heading("Lamps"), pdfs.Text(pdfs.prose("lamp"))]])
    document[0].set_rotation(90)
    data = document.tobytes()
    assert checked(pdfs.parse(data), data) == [(True, True)]


def test_one_failed_look_is_enough() -> None:
    assert RoundTrip(chunk="c", in_parent=True).holds
    assert not RoundTrip(chunk="c", in_parent=True, at_place=False).holds
    assert not RoundTrip(chunk="c", in_parent=False, at_place=True).holds


def test_names_are_read_however_they_are_written() -> None:
    data = b"""<a name='one'></a><p id=two><h2 ID = "th&eacute;%20e">"""
    assert raw_names(data) == {"one", "two", "thé%20e", "thé e"}
