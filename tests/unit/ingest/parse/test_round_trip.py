"""Whether what a chunk cites is there."""

from dataclasses import replace

from ingest.parse.round_trip import (
    NOT_FOUND,
    RoundTrip,
    check_round_trips,
    look_up_fragments,
    names_in,
    with_round_trips,
)
from tests.fakes.pages import parse_file, parse_page

PAGE = '<h1 id="top">Lamps</h1><p>A lamp gives light.</p><h2 ID=a&amp;b>Oil</h2><p>Oil burns.</p>'


def test_fragments_of_a_page_are_looked_up_in_its_markup() -> None:
    chunks = parse_page(PAGE).chunks
    assert [(chunk.fragment, chunk.round_trip) for chunk in chunks] == [("top", True), ("a&b", True)]
    other = names_in(PAGE.replace("top", "other"))
    assert list(look_up_fragments(chunks, other)) == [False, True]


def test_a_chunk_that_is_not_where_it_says_stays_and_is_less_sure() -> None:
    fragment = parse_page(PAGE)
    sure = {chunk.structure_confidence for chunk in fragment.chunks}
    looked_up = with_round_trips(fragment, [False, True])
    lost, found = looked_up.chunks
    assert fragment.warnings == ()
    assert looked_up.warnings == ("round trip: 1 of 2 passages not found where they say",)
    assert (lost.round_trip, lost.structure_confidence) == (False, NOT_FOUND)
    assert found.round_trip
    assert {found.structure_confidence} == sure
    assert min(sure) > NOT_FOUND
    assert lost == replace(fragment.chunks[0], round_trip=False, structure_confidence=NOT_FOUND)


def test_a_chunk_without_fragment_has_nothing_that_could_be_looked_up() -> None:
    (chunk,) = parse_page("<p>A lamp gives light.</p>").chunks
    assert (chunk.fragment, chunk.round_trip) == (None, None)


def test_ids_of_a_page_in_another_charset_are_found() -> None:
    page = '<meta charset="iso-8859-1"><h1 id="lämpe">Lamps</h1><p>A lamp gives light.</p>'
    (chunk,) = parse_page(page.encode("iso-8859-1")).chunks
    assert (chunk.fragment, chunk.round_trip) == ("lämpe", True)


def test_a_chunk_whose_text_is_not_its_sections_is_told() -> None:
    fragment = parse_page(PAGE)
    first, second = fragment.chunks
    moved = replace(fragment, chunks=(replace(first, offsets=(1, 5)), replace(second, offsets=(90, 99))))
    assert [trip.in_parent for trip in check_round_trips(moved)] == [False, False]
    assert [trip.in_parent for trip in check_round_trips(fragment)] == [True, True]


def test_parts_of_a_long_table_hold_under_their_repeated_header() -> None:
    rows = "".join(f"<tr><td>lamp {n}</td><td>{'oil and wick ' * 6}</td></tr>" for n in range(30))
    page = f"<h1 id=t>Lamps</h1><table><tr><th>name</th><th>needs</th></tr>{rows}</table>"
    fragment = parse_page(page)
    assert len(fragment.chunks) > 1
    assert all(trip.holds for trip in check_round_trips(fragment))


def test_a_markdown_file_names_no_place_that_could_be_looked_up() -> None:
    (trip,) = check_round_trips(parse_file("# Lamps\n\nA lamp gives light.\n"))
    assert (trip.in_parent, trip.at_place) == (True, None)


def test_one_failed_look_is_enough() -> None:
    assert RoundTrip(chunk="c", in_parent=True).holds
    assert not RoundTrip(chunk="c", in_parent=True, at_place=False).holds
    assert not RoundTrip(chunk="c", in_parent=False, at_place=True).holds


def test_names_are_read_however_they_are_written() -> None:
    markup = """<a name='one'></a><p id=two><h2 ID = "th&eacute;%20e">"""
    assert names_in(markup) == {"one", "two", "thé%20e", "thé e"}
