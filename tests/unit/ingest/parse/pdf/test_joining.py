"""Lines to text: hyphenation, lists, listings, and where each line went."""

from ingest.parse.pdf.joining import document_words, join_code, join_paragraph, join_texts
from ingest.parse.pdf.lines import Line
from schemas.nodes import BBox


def line(text: str, row: int = 0, left: float = 0.0) -> Line:
    width = 5.0 * len(text)
    return Line(text=text, bbox=BBox(left, row * 12.0, left + width, row * 12.0 + 10), size=10)


def joined(*texts: str, words: frozenset[str] = frozenset()) -> str:
    return join_paragraph([line(text, row) for row, text in enumerate(texts)], words).text


def test_a_hyphen_goes_when_the_joined_word_occurs_elsewhere() -> None:
    assert joined("the instal-", "lation ends", words=frozenset({"installation"})) == "the installation ends"


def test_a_hyphen_stays_when_the_joined_word_occurs_nowhere() -> None:
    assert joined("a well-", "known lamp", words=frozenset({"lamp"})) == "a well-known lamp"


def test_a_hyphen_before_a_capital_or_a_number_stays_with_its_space() -> None:
    assert joined("pages 3-", "7 of the book") == "pages 3- 7 of the book"
    assert joined("the old-", "Lamp", words=frozenset({"oldlamp"})) == "the old- Lamp"


def test_a_soft_hyphen_always_goes() -> None:
    assert joined("the instal\u00ad", "lation\u00ad al ends") == "the installation al ends"


def test_items_of_one_block_stand_on_lines_of_their_own() -> None:
    assert joined("• a lamp", "of brass", "• a plug") == "• a lamp of brass\n• a plug"


def test_each_line_is_found_again_by_its_span() -> None:
    parts = [
        join_paragraph([line("the instal\u00ad", 0), line("lation ends", 1)], ()),
        join_paragraph([line("a new one", 3)], ()),
    ]
    whole = join_texts(parts)

    assert whole.text == "the installation ends\n\na new one"
    assert [whole.text[start:end] for start, end, _ in whole.lines] == [
        "the instal",
        "lation ends",
        "a new one",
    ]
    assert whole.bbox(whole.text.index("new"), len(whole.text)) == line("a new one", 3).bbox
    assert whole.bbox(0, len(whole.text)).y1 == 46


def test_a_listing_is_indented_as_it_stands_on_the_page() -> None:
    assert join_code((line("if lamp:"), line("light()", 1, left=20), line("done()", 2))).text == (
        "if lamp:\n    light()\ndone()"
    )


def test_pieces_of_a_listing_that_stand_side_by_side_are_one_line() -> None:
    assert join_code((line("-S"), line("soft limit", 0, left=50))).text == "-S soft limit"


def test_words_are_those_of_all_lines_in_lower_case() -> None:
    words = {"the", "lamp", "shade", "lamp-shade", "-shade"}
    assert document_words([line("The Lamp"), line("lamp-shade 3")]) == words
