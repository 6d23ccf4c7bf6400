"""Definition lists in PDFs: a term stays with its description, over pages too."""

from schemas.fragment import GraphFragment
from schemas.nodes import RegionType
from tests.fakes.pdfs import LEFT, Text, code, count_words, heading, parse, pdf_bytes, prose, regions

INDENT = LEFT + 58
TITLE = heading("Seamanship", 22)


def term(name: str, *, left: float = LEFT) -> Text:
    """A term in a fixed-width font."""
    return Text(name, font="cour", left=left)


def said(topic: str, sentences: int = 9, *, left: float = INDENT) -> Text:
    """What is said of a term, indented."""
    return Text(prose(topic, sentences), left=left, columns=70)


def paths(fragment: GraphFragment) -> list[tuple[tuple[str, ...], str]]:
    """The entries that each passage stands in, and its first word."""
    return [(chunk.heading_path[1:], chunk.text.split()[0]) for chunk in fragment.chunks]


def test_each_entry_is_a_passage_that_begins_with_its_term() -> None:
    names = ("cast", "haul", "moor", "reef")
    blocks = [block for name in names for block in (term(name), said(name))]
    fragment = parse(pdf_bytes([[TITLE, heading("Commands"), *blocks]]))

    assert paths(fragment) == [((name,), name) for name in names]
    assert {chunk.section for chunk in fragment.chunks} == {"Commands"}
    assert not any(chunk.text.endswith(names) for chunk in fragment.chunks)


def test_a_synopsis_stands_with_its_term_however_long_it_is() -> None:
    synopsis = Text("haul [-a anchor] [-b buoy]\n" + "[-c chain] " * 30, font="cour", left=INDENT + 28)
    fragment = parse(pdf_bytes([[TITLE, heading("Commands"), term("haul"), synopsis, said("haul", 12)]]))

    assert paths(fragment)[0] == (("haul",), "haul")
    assert "haul\n\nhaul [-a anchor]" in fragment.chunks[0].text


def test_options_of_a_command_are_entries_inside_its_own() -> None:
    options = [
        block for name in ("-a", "-b") for block in (term(name, left=INDENT), said(name, left=INDENT + 58))
    ]
    fragment = parse(pdf_bytes([[TITLE, heading("Commands"), term("haul"), said("haul"), *options]]))

    assert paths(fragment) == [(("haul",), "haul"), (("haul", "-a"), "-a"), (("haul", "-b"), "-b")]


def test_an_entry_goes_on_over_the_page_and_a_term_alone_on_a_page_is_no_passage() -> None:
    first = [TITLE, heading("Commands"), term("cast"), said("cast"), term("haul")]
    fragment = parse(pdf_bytes([first, [said("haul", 12), Text(prose("after it", 12))]]))

    assert paths(fragment)[:2] == [(("cast",), "cast"), (("haul",), "The")]
    assert paths(fragment)[-1][0] == ()
    assert any(region.text == "haul" for region in regions(fragment, RegionType.CODE))


def test_short_entries_share_a_passage_and_none_is_parted_from_its_term() -> None:
    names = [f"key-{number}" for number in range(40)]
    blocks = [block for name in names for block in (term(name), Text(f"Moves {name} once.", left=INDENT))]
    pages = [[TITLE, heading("Keys"), *blocks[:20]], *(blocks[at : at + 20] for at in (20, 40, 60))]
    fragment = parse(pdf_bytes(pages))

    assert len(fragment.chunks) < 20
    for chunk in fragment.chunks:
        parts = chunk.text.split("\n\n")
        assert [part.startswith("key-") for part in parts] == [True, False] * (len(parts) // 2)
        assert count_words(chunk.text) <= 250


def test_a_line_of_prose_over_a_listing_is_no_term() -> None:
    listing = Text("lamp --on\nlamp --off", font="cour", left=INDENT)
    fragment = parse(
        pdf_bytes([[TITLE, heading("Lamps"), Text("For instance"), listing, said("plug", left=LEFT)]])
    )

    assert {chunk.heading_path for chunk in fragment.chunks} == {("Lamps",)}


def test_a_listing_with_indented_lines_is_no_list_of_terms() -> None:
    lines = [code("if lamp:"), Text("    lamp.off()", font="cour", left=INDENT), code("else:")]
    fragment = parse(pdf_bytes([[TITLE, heading("Lamps"), Text(prose("lamp")), *lines, Text(prose("plug"))]]))

    assert {chunk.heading_path for chunk in fragment.chunks} == {("Lamps",)}
