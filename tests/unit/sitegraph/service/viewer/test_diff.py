"""What changed between two versions, as a person reads it."""

from hypothesis import given
from hypothesis import strategies as st

from sitegraph.actions import word_difference
from sitegraph.actions.word_difference import Mark, Piece, compare

SAME, REMOVED, ADDED = Mark.SAME, Mark.REMOVED, Mark.ADDED


def test_one_word_of_a_sentence_is_marked_and_the_rest_is_left() -> None:
    assert compare("Keep backups for 30 days.", "Keep backups for 90 days.") == (
        Piece(SAME, "Keep backups for "),
        Piece(REMOVED, "30 "),
        Piece(ADDED, "90 "),
        Piece(SAME, "days."),
    )


def test_words_next_to_each_other_are_one_change() -> None:
    found = compare("Ask the night crew before noon today.", "Ask the day shift before noon today.")
    assert [piece for piece in found if piece.mark is not SAME] == [
        Piece(REMOVED, "night crew "),
        Piece(ADDED, "day shift "),
    ]


def test_texts_with_little_in_common_stand_one_after_the_other() -> None:
    old, new = "Roses are cut in March.", "Whoever wakes first rings the bell, and waits for an answer"
    assert compare(old, new) == (Piece(REMOVED, old), Piece(ADDED, new))


def test_equal_texts_have_no_change_and_nothing_has_no_pieces() -> None:
    assert compare("The same.", "The same.") == (Piece(SAME, "The same."),)
    assert compare("", "") == ()
    assert compare("", "New.") == (Piece(ADDED, "New."),)


def test_texts_that_repeat_themselves_are_compared_by_line_and_at_worst_not_at_all() -> None:
    lines = [f"| {number} | a | a |\n" for number in range(100)]
    old, new = "".join(lines), "".join([*lines[:5], "| 5 | b | a |\n", *lines[6:]])
    assert [piece for piece in compare(old, new) if piece.mark is not SAME] == [
        Piece(REMOVED, "| 5 | a | a |\n"),
        Piece(ADDED, "| 5 | b | a |\n"),
    ]
    old, new = "| a " * word_difference.PAIRS_MAX, "a | " * word_difference.PAIRS_MAX
    assert compare(old, new) == (Piece(REMOVED, old), Piece(ADDED, new))


@given(st.text(alphabet="ab \n.é\u202e<", max_size=60), st.text(alphabet="ab \n.é\u202e<", max_size=60))
def test_the_pieces_are_both_texts_whole(old: str, new: str) -> None:
    pieces = compare(old, new)
    assert "".join(piece.text for piece in pieces if piece.mark is not ADDED) == old
    assert "".join(piece.text for piece in pieces if piece.mark is not REMOVED) == new
