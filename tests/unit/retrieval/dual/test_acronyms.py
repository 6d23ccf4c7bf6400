"""Acronyms that a text explains."""

import pytest

from retrieval.dual.acronyms import read_acronyms


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The Write-Ahead Log (WAL) grows.", {"WAL": "Write-Ahead Log"}),
        ("Ask the Department of Defense (DOD) first.", {"DOD": "Department of Defense"}),
        ("Use the global positioning system (GPS).", {"GPS": "global positioning system"}),
        ("See the notes (PDF) below.", {}),
        ("We met (NASA) there. Again (WAL", {}),
        ("One end. Ahead Log (WAL)", {}),
        ("(WAL) Write-Ahead Log", {}),
    ],
)
def test_an_acronym_means_the_words_before_it_that_it_spells(text: str, found: dict[str, str]) -> None:
    assert read_acronyms([text]) == found


def test_the_first_explanation_counts() -> None:
    assert read_acronyms(["Alpha Beta (AB)", "Ada Byron (AB)"]) == {"AB": "Alpha Beta"}
