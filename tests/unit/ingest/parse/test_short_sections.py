"""Texts of fewer than 20 characters are read with a neighbour, and nothing of them is lost."""

from ingest.parse.round_trip import check_round_trips
from tests.fakes.pages import links_of, parse_page, sections_of

LONG = "The pump stands below deck and takes one person an afternoon."


def test_a_short_section_is_read_with_the_chunk_before_it() -> None:
    page = parse_page(
        f"<main><h1 id=t>Pumps of the boat</h1><p>{LONG}</p><h2 id=use>Use</h2><p>{LONG}</p>"
        "<h2>See also</h2><p>The <a href=/log>log</a></p></main>"
    )
    assert [chunk.text for chunk in page.chunks] == [LONG, f"{LONG}\n\nSee also\nThe log"]
    last = page.chunks[-1]
    assert (last.fragment, last.fragments) == ("use", ())
    assert [section.heading for section in sections_of(page)] == ["Pumps of the boat", "Use", "See also"]
    assert all(found.holds for found in check_round_trips(page))
    place = links_of(page)["log"].places[0]
    assert place.chunk == last.id
    assert place.offset is not None
    assert last.text[place.offset :] == "log"


def test_a_short_heading_over_sections_is_no_chunk_and_its_id_leads_to_the_first_of_them() -> None:
    page = parse_page(
        f"<main><h1 id=t>Pumps</h1><h2 id=use>GOV-0017</h2><h3 id=how>How to use it</h3><p>{LONG}</p></main>"
    )
    assert [chunk.text for chunk in page.chunks] == [LONG]
    assert page.chunks[0].heading_path == ("Pumps", "GOV-0017", "How to use it")
    assert (page.chunks[0].fragment, page.chunks[0].fragments) == ("how", ("t", "use"))
    assert "GOV-0017" in page.chunks[0].codes
    assert len(sections_of(page)) == 3


def test_a_short_section_with_an_id_is_cited_by_itself() -> None:
    page = parse_page(
        f"<main><h1 id=t>News</h1><h2 id=v2>Version 2</h2><p>{LONG}</p>"
        "<h2 id=v1>Version 1</h2><p>First.</p></main>"
    )
    assert [(chunk.text, chunk.fragment) for chunk in page.chunks] == [(LONG, "v2"), ("First.", "v1")]


def test_two_short_sections_stay_apart_and_so_do_those_of_two_books() -> None:
    page = parse_page("<main><h1>A</h1><p>One.</p><h2>B</h2><p>Two.</p></main>")
    assert [chunk.text for chunk in page.chunks] == ["One.", "Two."]
    page = parse_page(f"<main><h1>A</h1><p>{LONG}</p><h1>B</h1><p>Two.</p></main>")
    assert [chunk.text for chunk in page.chunks] == [LONG, "Two."]


def test_a_short_section_that_does_not_fit_stays_apart() -> None:
    full = "word " * 248
    page = parse_page(f"<main><h1>A</h1><p>{full}</p><h2>B</h2><p>Two words.</p></main>")
    assert [chunk.text for chunk in page.chunks][-1] == "Two words."


def test_a_short_entry_with_an_id_keeps_its_chunk() -> None:
    page = parse_page(
        f"<main><h1>A</h1><dl><dt id=aft>Aft</dt><dd>{LONG}</dd>"
        "<dt id=bow>Bow</dt><dd>Front.</dd></dl></main>"
    )
    assert [chunk.fragment for chunk in page.chunks] == ["aft", "bow"]


def test_a_short_rest_of_a_section_takes_some_of_the_chunk_before_it() -> None:
    sentences = " ".join(f"Sentence {number} says nothing else at all." for number in range(35))
    page = parse_page(f"<main><h1>A</h1><p>{sentences}</p><p>a b c d e</p></main>")
    assert len(page.chunks) == 2
    assert min(len(chunk.text) for chunk in page.chunks) > 200
