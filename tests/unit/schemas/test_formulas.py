"""Formulas are found as they are written, and nothing else is taken for one."""

import pytest

from schemas.text import MAX_FORMULAS, find_formulas


@pytest.mark.parametrize(
    ("text", "formula"),
    [
        ("the energy E = mc² of a body.", "E=mc^2"),
        ("What does E=mc^2 mean?", "E=mc^2"),
        ("a² + b² = c², as everybody knows", "a^2+b^2=c^2"),
        ("then F = m · a is the force", "F=m·a"),
        ("(σ = √(x/n) here)", "σ=√(x/n)"),
        ("reject where p ≤ α.", "p≤α"),
        ("e^(iπ) + 1 = 0", "e^(iπ)+1=0"),
    ],
)
def test_a_formula_is_written_without_spaces_and_with_powers_as_signs(text: str, formula: str) -> None:
    assert find_formulas(text) == (formula,)


@pytest.mark.parametrize(
    "text",
    [
        "a = b",
        "set max_wal_size = 1GB",
        "PATH=/usr/lib:$PATH",
        "http://example.org/x?a=b&c=d",
        "see <b>bold</b> > this",
        "x => y and = 2 + 3",
        "--prefix=a/b",
        "",
    ],
)
def test_an_assignment_an_address_or_markup_is_none(text: str) -> None:
    assert find_formulas(text) == ()


def test_of_many_formulas_the_first_are_kept_once_each() -> None:
    many = " and ".join(f"x = {number}² " for number in range(2 * MAX_FORMULAS))
    assert len(find_formulas(f"{many} {many}")) == MAX_FORMULAS


def test_a_text_of_signs_alone_is_gone_through_in_one_pass() -> None:
    assert find_formulas("= " * 20_000 + "a + " * 20_000 + "(" * 100_000) == ()
