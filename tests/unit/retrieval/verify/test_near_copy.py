"""Sentences that repeat a passage but for a word, or claim more than it does."""

import pytest

from retrieval.verify.near_copy import (
    claims_more,
    denied_copy,
    other_count,
    other_time,
    put_in_place,
    reversed_order,
)

PASSAGE = (
    "The porter keeps the brass key of the north gate in the oak box. "
    "If set to ‘off’, the lamp must be lit by the porter. Most gates are shut at night. "
    "Unlike the maid, the porter does not sleep in the lodge. "
    "The gate may be opened early unless snow has fallen. A lamp is stored once in the cellar. "
    "The cellar is a part of the lodge. From release 12 onwards the gates are painted."
)


@pytest.mark.parametrize(
    ("sentence", "word"),
    [
        ("The porter keeps the brass key of the north gate in the pine box.", "oak"),
        ("The porter keeps the brass key of the north chapel in the oak box.", "gat"),
        ("If set to ‘on’, the lamp must be lit by the porter.", "off"),
        ("The porter keeps the brass key of the north gate in the oak box.", None),
        ("In the oak box the porter has the north gate's brass key.", None),
        ("The porter stores the brass key of the north gate in the oak box.", None),
        ("In a box of wood lies a key that he needs for the gate.", None),
    ],
)
def test_a_thing_in_the_place_of_another_is_told_from_a_sentence_that_is_worded_anew(
    sentence: str, word: str | None
) -> None:
    assert put_in_place(sentence, PASSAGE) == word


def test_a_not_that_one_of_the_two_lacks_turns_what_is_repeated() -> None:
    assert denied_copy("Unlike the maid, the porter does sleep in the lodge.", PASSAGE)
    assert not denied_copy("Unlike the maid, the porter does not sleep in the lodge.", PASSAGE)
    assert not denied_copy("Note that the lamp is stored in the cellar.", PASSAGE)


def test_two_things_that_changed_places_are_told() -> None:
    assert reversed_order("Unlike the porter, the maid does not sleep in the lodge.", PASSAGE)
    assert reversed_order("The lodge is a part of the cellar.", PASSAGE)
    assert not reversed_order("The cellar is a part of the lodge.", PASSAGE)


@pytest.mark.parametrize(
    ("sentence", "more"),
    [
        ("All gates are shut at night.", True),
        ("Most gates are shut at night.", False),
        ("The porter keeps only the brass key of the north gate in the oak box.", True),
        ("The gate may be opened early even if snow has fallen.", True),
        ("The gate may be opened early if no snow has fallen.", False),
    ],
)
def test_all_only_and_even_if_are_more_than_the_passage_says(sentence: str, more: bool) -> None:
    assert bool(claims_more(sentence, PASSAGE)) is more


def test_a_release_has_two_sides() -> None:
    assert other_time("Until release 12 the gates were painted.", PASSAGE) == "12"
    assert other_time("Since release 12 the gates are painted.", PASSAGE) is None


def test_small_numbers_beside_the_same_word_are_compared() -> None:
    assert other_count("A lamp is stored twice in the cellar.", PASSAGE)
    assert not other_count("A lamp is stored once.", PASSAGE)
    assert not other_count("Frames have at most 1200 bytes.", "Frames have 1,200 bytes, or 64 lamps.")
