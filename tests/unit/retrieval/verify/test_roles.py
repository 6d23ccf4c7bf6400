"""Names that changed places: who does it, and to whom it is done."""

import pytest

from retrieval.verify.contrast import exchanged_roles


@pytest.mark.parametrize(
    ("sentence", "passage"),
    [
        ("The bridge was designed by Ada Moll.", "The bridge, designed by Kai Brandt, opens for Ada Moll."),
        ("Ada Moll designed the bridge.", "The bridge was designed by Kai Brandt for Ada Moll."),
        (
            "The club was founded by Ada Moll.",
            "The club was founded in 1926 by Kai Brandt, husband of Ada Moll.",
        ),
        (
            "It was produced by Ada Moll.",
            "Produced by Kai Brandt with a text edited by Ada Moll, it was a success.",
        ),
        ("Northair ended its contract with Skyline.", "Skyline ended its contract with Northair in May."),
        ("In 1996 Ada Moll succeeded him.", "He succeeded Ada Moll as chair in 1996."),
    ],
)
def test_a_name_that_changed_places_is_found(sentence: str, passage: str) -> None:
    assert exchanged_roles(sentence, passage)


@pytest.mark.parametrize(
    ("sentence", "passage"),
    [
        ("Kai Brandt designed the bridge.", "The bridge, designed by Brandt, opens for Ada Moll."),
        (
            "Brandt designed the bridge.",
            "Brandt is an engineer. He designed the bridge; Ada Moll designed it on.",
        ),
        ("Moll designed the bridge.", "Ada Moll was born in Bern. She designed the bridge."),
        ("Researchers designed the bridge.", "The bridge was designed by Kai Brandt."),
        ("Ada Moll chaired the board.", "He succeeded Ada Moll, who chaired the board."),
        ("The lease ended in May.", "Skyline ended its contract in May."),
        ("Norland surrendered on 8 May 1945.", "With Norland beaten, Sudland surrendered in autumn 1945."),
    ],
)
def test_who_does_it_by_another_name_or_by_a_pronoun_is_left_alone(sentence: str, passage: str) -> None:
    assert exchanged_roles(sentence, passage) is None
