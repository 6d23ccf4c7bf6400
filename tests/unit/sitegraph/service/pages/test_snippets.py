"""Which part of a passage is shown, and which of its words are marked."""

import pytest

from sitegraph.service.pages.snippets import LENGTH, cut_snippet, mark_quote, mark_words

FILLER = " ".join(f"filling{number}" for number in range(200))


def marked(pieces: tuple[tuple[str, bool], ...]) -> list[str]:
    return [text for text, is_marked in pieces if is_marked]


def shown(pieces: tuple[tuple[str, bool], ...]) -> str:
    return "".join(text for text, _ in pieces)


def test_a_short_passage_is_shown_whole_on_one_line_with_the_words_asked_for_marked() -> None:
    pieces = cut_snippet("A lease\n\nexpires; Leases are renewed.", "When does the lease expire?")
    assert shown(pieces) == "A lease expires; Leases are renewed."
    assert marked(pieces) == ["lease", "expires", "Leases"]


def test_a_long_passage_is_cut_at_words_around_where_most_words_stand() -> None:
    pieces = cut_snippet(f"lease {FILLER} the lease expires at noon {FILLER}", "lease expires")
    assert marked(pieces) == ["lease", "expires"]
    assert shown(pieces).startswith("… filling")
    assert shown(pieces).endswith(" …")
    assert len(shown(pieces)) <= LENGTH + 4


def test_a_passage_without_any_of_the_words_begins_at_its_beginning() -> None:
    assert shown(cut_snippet(FILLER, "lease")).startswith("filling0 filling1 ")


@pytest.mark.parametrize("text", ["x" * 1000, "", " ", "\n", "\u00df" * 400])
def test_text_without_spaces_is_cut_all_the_same(text: str) -> None:
    assert len(shown(cut_snippet(text, "lease"))) <= LENGTH + 4


def test_a_word_is_marked_with_its_endings_and_not_inside_of_another() -> None:
    assert marked(mark_words("cat category cats concat leased", {"cat", "lease"})) == ["cat", "leased"]


def test_a_quotation_is_found_whatever_the_white_space_and_its_characters() -> None:
    text = "Rows:\n1 | a (b)\n2 | c\nend"
    assert mark_quote(text, "1 | a (b) 2 | c") == (
        ("Rows:\n", False),
        ("1 | a (b)\n2 | c", True),
        ("\nend", False),
    )
    assert mark_quote(text, "not there") == ((text, False),)
    assert mark_quote(text, " ") == ((text, False),)
