"""Which lines are headings, how sure that is, and what path a passage has."""

from collections.abc import Sequence

import pymupdf
import pytest

from schemas.nodes import RegionType
from tests.fakes.pdfs import (
    HEIGHT,
    WIDTH,
    Text,
    chunk_with,
    heading,
    manual,
    manual_pages,
    parse,
    pdf_bytes,
    prose,
    regions,
    set_block,
)


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


def shown(*larger: Text) -> tuple[list[str], str]:
    """Headings of a page with these blocks between two of body text, and the text of its chunks."""
    fragment = parse(pdf_bytes([[Text(prose("lamp", 12)), *larger, Text(prose("plug", 12))]]))
    found = [region.text for region in regions(fragment, RegionType.HEADING)]
    return found, " ".join(" ".join(chunk.text.split()) for chunk in fragment.chunks)


SENTENCES = {
    "one": (
        "The members decided to move the summer meeting from the hall to the garden of "
        "the library because the roof of the hall must be repaired before the autumn rains begin."
    ),
    "two": (
        "We thank the department of the lamps for its generous support through a gift. "
        "We also thank our friends"
    ),
    "with an opening": (
        "Proof. Let the lamp be the one that is described in chapter 2.5. By the law of lamps, it gives light"
    ),
    "ending in a quotation": (
        'The committee said at its last meeting in the month of May that it would "repair the roof at once."'
    ),
    "German": (
        "Die Mitglieder haben beschlossen, die Versammlung des Sommers in den Garten der "
        "Bücherei zu verlegen."
    ),
}


@pytest.mark.parametrize("sentence", SENTENCES.values(), ids=SENTENCES)
def test_sentences_in_type_a_little_larger_than_the_body_are_text(sentence: str) -> None:
    found, text = shown(Text(sentence, size=12))

    assert found == []
    assert sentence in text


def test_japanese_sentences_in_type_a_little_larger_are_text() -> None:
    sentence = "委員会は五月三日に開かれ、年度の会計報告を受けた。" * 4
    found, text = shown(Text(sentence, size=12, font="japan", columns=40))

    assert found == []
    assert "年度の会計報告" in text


@pytest.mark.parametrize(("above", "below"), [(10.1, 9.8), (9.8, 10.1)], ids=["goes on", "began above"])
def test_a_part_of_a_sentence_in_type_a_little_larger_is_text(above: float, below: float) -> None:
    blocks = [
        Text(prose("plug", 12), size=9),
        Text("We use the same lamp in all the rooms of the house for each of our", size=above),
        Text("visitors since it gives more light than others", size=below),
        Text(prose("switch", 12), size=9),
    ]
    fragment = parse(_set_close(blocks))

    assert regions(fragment, RegionType.HEADING) == []
    assert "visitors since" in chunk_with(fragment, "the same lamp").text


HEADINGS = {
    "long": (
        "What older people say about their lamps, about those who sell them, and about "
        "the help they would need to set up a new one in their homes"
    ),
    "question": (
        "How does a lamp know when it is time to go out, and who told it so in the first "
        "place? A guide for owners"
    ),
    "question of sentences": (
        "I know that some lamps are made for the garden. So after setting one up in the "
        "house, can I still use it?"
    ),
    "numbered": (
        "Part II. Article 5. Market for the lamps of the registrant, matters of those "
        "who hold them and purchases"
    ),
    "initials": (
        "A complete list of the lamps that were designed by the engineers J. S. Miller "
        "and K. Smith in their youth"
    ),
    "abbreviation": (
        "Inaugural lecture held in honour of Prof. Miller at the University of the "
        "Lamps in the year of its foundation"
    ),
    "quoted question": (
        '"I know that some lamps are made for the garden. So after setting one up, may I still use it?"'
    ),
    "sentence on one line": "All lamps give light.",
    "German": (
        "Welche Lampen bzw. Leuchten in den Räumen des Hauses und im Garten stehen dürfen und welche nicht"
    ),
    "capitals": (
        "IMPROVING THE QUALITY AND EFFICIENCY OF THE LAMPS OF THE HOUSE. STATEMENT OF "
        "THE COMMITTEE ON THE LAMPS."
    ),
}


@pytest.mark.parametrize("title", HEADINGS.values(), ids=HEADINGS)
def test_headings_in_plain_type_a_little_larger_than_the_body_stay_headings(title: str) -> None:
    assert shown(Text(title, size=12, columns=60))[0] == [title]


def test_a_japanese_heading_of_several_lines_stays_one() -> None:
    title = "定例総会における年度会計報告の承認および図書館の庭園で開かれる夏季集会の準備について"
    found, _ = shown(Text(title, size=12, font="japan", columns=30))

    assert [one.replace(" ", "") for one in found] == [title]


@pytest.mark.parametrize(("size", "font"), [(15.0, "helv"), (12.0, "hebo")], ids=["display type", "bold"])
def test_sentences_in_display_type_or_bold_stay_headings(size: float, font: str) -> None:
    title = (
        "Once online, most owners use the lamp every day of their lives. Others are "
        "divided on the merits of it."
    )

    assert shown(Text(title, size=size, font=font, columns=60))[0] == [title]


def test_the_two_lines_of_a_heading_stay_headings_where_they_stand_apart() -> None:
    lines = ["Looking after the lamp and the other lights of a house when", "nobody is at home for long"]
    title = [Text(line, size=12, columns=70) for line in lines]
    fragment = parse(_set_close([Text(prose("plug", 12)), *title, Text(prose("switch", 12))], leading=24))

    assert [region.text for region in regions(fragment, RegionType.HEADING)] == lines


def test_a_heading_above_text_that_begins_in_lower_case_stays_one() -> None:
    title = "Looking after the lamp when nobody is at home for long"
    blocks = [
        Text(prose("plug", 12)),
        Text(title, size=12),
        Text("lamp-care does so, and needs no more than a name."),
    ]
    fragment = parse(_set_close(blocks))

    assert [region.text for region in regions(fragment, RegionType.HEADING)] == [title]


def _set_close(blocks: Sequence[Text], *, leading: float = 13) -> bytes:
    """Set blocks one under the other without a gap, as the lines of a paragraph are."""
    with pymupdf.open() as document:
        page = document.new_page(width=WIDTH, height=HEIGHT)
        y = 100.0
        for block in blocks:
            y = set_block(page, block, y) + leading
        return bytes(document.tobytes())
