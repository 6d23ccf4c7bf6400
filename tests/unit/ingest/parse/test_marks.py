"""Marks as plain text."""

import pytest

from ingest.parse.wording import item_number, lowered, note_mark, raised


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("6", "⁶"),
        ("-3", "⁻³"),
        ("\u22126", "⁻⁶"),
        ("2+", "²⁺"),
        ("-", "⁻"),
        ("⁶", "⁶"),
        ("n", "^n"),
        ("x+1", "^(x+1)"),
        ("2^n", "^(2^n)"),
        ("(k)", "^(k)"),
        ("(a)+(b)", "^((a)+(b))"),
        ("2.5", "^(2.5)"),
        ("th", "th"),
        ("TM", "TM"),
        ("®", "®"),
        ("*", "*"),
        ("[4]", "[4]"),
        ("see the note below", "see the note below"),
        (" ", ""),
    ],
)
def test_raised_text_is_told_from_what_it_stands_behind(text: str, shown: str) -> None:
    assert raised(text) == shown


@pytest.mark.parametrize(("text", "shown"), [("2", "₂"), ("max", "_max"), ("i+1", "_(i+1)"), ("10", "₁₀")])
def test_lowered_text_is_told_from_what_it_stands_behind(text: str, shown: str) -> None:
    assert lowered(text) == shown


@pytest.mark.parametrize("text", ["12", "[12]", "(12)", " 12 ", "[12"])
def test_every_mark_of_a_note_is_written_alike(text: str) -> None:
    assert note_mark(text) == "[12]"


@pytest.mark.parametrize(
    ("number", "style", "shown"),
    [
        (4, "1", "4."),
        (4, "a", "d."),
        (28, "A", "AB."),
        (4, "i", "iv."),
        (1994, "I", "MCMXCIV."),
        (0, "a", "0."),
        (-2, "i", "-2."),
        (5000, "i", "5000."),
    ],
)
def test_an_item_is_numbered_as_it_is_shown(number: int, style: str, shown: str) -> None:
    assert item_number(number, style) == shown
