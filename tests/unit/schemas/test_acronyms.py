"""Acronyms and what they stand for."""

import pytest

from schemas.names import Acronym, expansions_of, find_acronyms


@pytest.mark.parametrize(
    ("text", "short", "expansion"),
    [
        ("The Write-Ahead Log (WAL) grows.", "WAL", "Write-Ahead Log"),
        ("the write-ahead log (WAL) grows.", "WAL", "write-ahead log"),
        ("A WAL (write-ahead log) grows.", "WAL", "write-ahead log"),
        ("We use Mean Time to Repair (MTTR) here.", "MTTR", "Mean Time to Repair"),
        ("Mean Time to Repair (MTR)", "MTR", "Mean Time to Repair"),
        ("WAL (Write-Ahead Log)", "WAL", "Write-Ahead Log"),
        ("Ask the Department of Defense (DOD) first.", "DOD", "Department of Defense"),
        ("Use the global positioning system (GPS).", "GPS", "global positioning system"),
        ("Virtual Private Clouds (VPCs)", "VPCs", "Virtual Private Clouds"),
        ("Several content delivery networks (CDNs) cache.", "CDNs", "content delivery networks"),
    ],
)
def test_a_short_form_stands_for_the_words_that_its_letters_begin(
    text: str, short: str, expansion: str
) -> None:
    assert find_acronyms(text) == (Acronym(short, expansion),)


@pytest.mark.parametrize(
    "text",
    [
        "Lothair II (died 869)",
        "the log (WAL)",
        "It ended. Log (WAL)",
        "We bought a lamp (USA)",
        "of the house (OTH)",
        "Write-Ahead\nLog (WAL",
        "(WAL)",
        "(WAL) Write-Ahead Log",
        "See the notes (PDF) below.",
        "We met (NASA) there. Again (WAL",
        "WAL ()",
    ],
)
def test_other_words_in_brackets_explain_nothing(text: str) -> None:
    assert find_acronyms(text) == ()


def test_each_acronym_is_given_once_and_in_order() -> None:
    text = "Old Tower Bell (OTB). New Gate House (NGH). Old Tower Bell (OTB)."
    assert [found.short for found in find_acronyms(text)] == ["OTB", "NGH"]


def test_the_first_explanation_counts() -> None:
    assert expansions_of(["Alpha Beta (AB)", "Ada Byron (AB)"]) == {"AB": "Alpha Beta"}


@pytest.mark.parametrize(
    "text", ["XAAAAAAAAAAAAZ (xx " + "a " * 36 + "b)", "(" + " " * 20_000, "( " * 20_000]
)
def test_no_text_takes_long(text: str) -> None:
    assert find_acronyms(text) == ()
