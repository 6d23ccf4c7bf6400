"""Passages cut into sentences that can be quoted."""

from itertools import groupby

import pytest

from retrieval.answering.answered import UNIT_MAX, quotable_parts, split_quotable


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
        ("It ends. [83] The next.[4] The last [5].", ("It ends. [83]", "The next.[4]", "The last [5].")),
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


LISTING = "add_custom_command(\n  OUTPUT out.c\n  VERBATIM)\n\nadd_library(myLib out.c)"
TABLE = "Supported levels\nlevel | compilers\n98 | all\n11 | most"


@pytest.mark.parametrize(
    ("text", "units"),
    [
        ("One. Two.", ["One.", "Two."]),
        (
            f"It is so. For example, the code:\n\n{LISTING}\n\nadds a command to run it. It runs again.",
            [
                "It is so.",
                f"For example, the code: {LISTING} adds a command to run it.",
                "It runs again.",
            ],
        ),
        (f"{LISTING}\n\nadds a command. It runs.", [f"{LISTING} adds a command.", "It runs."]),
        (
            f"Use this.\n\n{LISTING}\n\nadds a command.",
            ["Use this.", *LISTING.split("\n\n"), "adds a command."],
        ),
        ("Run:\n\n$ pg_dump\n\npg_dump writes all.", ["Run:", "$ pg_dump", "pg_dump writes all."]),
        ("no code\n\nis here", ["no code", "is here"]),
        (TABLE, [TABLE]),
        (f"Values:\n\n{TABLE}\n\nOthers fail.", ["Values:", TABLE, "Others fail."]),
        ("It holds [1].\n\n[1] So it was. It is.", ["It holds [1].", "[1] So it was. It is."]),
        (
            "It holds [1].\n\n[1]\n\nSo it was. It is.\n\nMore.",
            ["It holds [1].", "[1] So it was. It is.", "More."],
        ),
        ("- one. Two.\n- three", ["- one.", "Two.", "- three"]),
        ("\n".join(f"x{at} = {'1' * 40};" for at in range(20)), [f"x{at} = {'1' * 40};" for at in range(20)]),
    ],
)
def test_code_tables_footnotes_and_what_is_set_into_a_sentence_stay_whole(
    text: str, units: list[str]
) -> None:
    found = groupby(quotable_parts(text), lambda part: part.unit)
    assert [" ".join(part.text for part in unit) for _, unit in found] == [
        " ".join(one.split()) for one in units
    ]


def test_what_is_set_into_a_sentence_and_is_long_still_belongs_to_it() -> None:
    listing = "\n".join(f"set(name{at} value)" for at in range(UNIT_MAX // 10))
    parts = quotable_parts(f"The code\n\n{listing}\n\nsets many. More.")
    assert len({part.unit for part in parts[:-1]}) == 1


@pytest.mark.parametrize("text", [LISTING, TABLE, "One. Two.\n- a\n  - b\n\n    code\n\n\nThree."])
def test_parts_and_what_stands_between_them_are_the_passage(text: str) -> None:
    parts = quotable_parts(text)
    said = parts[0].text + "".join(part.joint + part.text for part in parts[1:])
    assert said == text.replace("\n\n\n", "\n\n")
