"""Entities of a question, with their other names."""

from retrieval.dual.walk import extract_entities

MAP = {"WAL": "Write-Ahead Log"}


def names(question: str, *, known: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    return list(extract_entities(question, known=known, acronyms=MAP))


def test_there_are_at_most_three() -> None:
    assert len(names("How do Alpha, Beta, Gamma and Delta meet?")) == 3


def test_an_acronym_has_its_long_form_as_another_name_and_the_other_way_round() -> None:
    assert names("What reads the WAL?") == [("WAL", "Write-Ahead Log")]
    assert names("Who reads the write-ahead log today?") == [("Write-Ahead Log", "WAL")]


def test_both_forms_in_one_question_are_one_entity() -> None:
    assert names("Does the Write-Ahead Log (WAL) need Redis?") == [("Write-Ahead Log", "WAL"), ("Redis",)]


def test_names_of_the_catalogue_come_first() -> None:
    assert names("Does Redis feed the night crew?", known=("night crew",)) == [("night crew",), ("Redis",)]
