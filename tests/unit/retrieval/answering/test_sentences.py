"""Passages cut into sentences that can be quoted."""

import pytest

from retrieval.answering.sentences import split_quotable


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("One ends here. Two does too.", ("One ends here.", "Two does too.")),
        (
            "Produced by Cyrus J. Williams in 1921. He died.",
            ("Produced by Cyrus J. Williams in 1921.", "He died."),
        ),
        ("See e.g. Fig. 2 by Dr. No. It fits.", ("See e.g. Fig. 2 by Dr. No. It fits.",)),
        ("By R. N. Bradbury Jr. and J.R.R. Tolkien.", ("By R. N. Bradbury Jr. and J.R.R. Tolkien.",)),
        ("Version 3.1 is out. 4.0 is not.", ("Version 3.1 is out.", "4.0 is not.")),
        ('He said "Go." "Where?" she asked.', ('He said "Go."', '"Where?" she asked.')),
        ("- a list\n- of two\n\n", ("- a list", "- of two")),
        (
            "It takes 5 h. Then it ends!  (Often.) Really?",
            ("It takes 5 h. Then it ends!", "(Often.)", "Really?"),
        ),
        ("wrapped   white\tspace. Next", ("wrapped white space.", "Next")),
        ("", ()),
    ],
)
def test_a_passage_is_cut_at_lines_and_sentences(text: str, parts: tuple[str, ...]) -> None:
    assert split_quotable(text) == parts


def test_nothing_but_white_space_is_lost() -> None:
    text = "A b. C d! E? F. G (h). I etc. J\nk"
    assert " ".join(split_quotable(text)) == " ".join(text.split())


def test_a_list_of_initials_without_end_is_one_part() -> None:
    text = "A. " * 30_000
    assert split_quotable(text) == (text.strip(),)
