"""Which questions ask how things are related, and what they name."""

import pytest

from retrieval.question.route import asks_for_relations, entities_of


@pytest.mark.parametrize(
    "text",
    [
        "How does GPS connect to navigation?",
        "Which services depend on the billing worker?",
        "What supersedes ADR-0031?",
        "Is Redis used by the Session API?",
        "What is the link between Flask and Werkzeug?",
    ],
)
def test_questions_after_a_relation_between_names_are_told(text: str) -> None:
    assert asks_for_relations(text)


@pytest.mark.parametrize(
    "text",
    [
        "What is GPS?",
        "What is a foreign key dependency?",
        "Define GPS",
        "Who wrote the Backup Guide?",
        "When did Flask 3.1 ship?",
        "How do I restore a table?",
        "",
    ],
)
def test_definitions_dates_and_plain_questions_are_none(text: str) -> None:
    assert not asks_for_relations(text)


def test_names_of_the_catalogue_come_first_then_the_longest() -> None:
    text = "Does Redis talk to the session api or to Billing Core Worker in GOV-0017?"
    assert entities_of(text, ["session api"]) == ("session api", "Billing Core Worker", "GOV-0017")


def test_a_first_word_is_no_name_only_for_being_capitalised() -> None:
    assert entities_of("Backups are kept where?") == ()
    assert entities_of("NASA keeps them") == ("NASA",)


@pytest.mark.parametrize("text", ["How does a Lease relate to the Outbox?", "Which guides relate to Redis?"])
def test_relate_is_a_word_for_a_relation(text: str) -> None:
    assert asks_for_relations(text)


def test_letters_imports_and_files_are_no_entities_however_often_they_are_headings() -> None:
    known = ("A", "from flask import Flask", "conf.py", "Example", "1", "import os", "Outbox")
    assert entities_of("Is a from flask import in conf.py an example of 1 Outbox?", known) == ("Outbox",)
    for text in (
        "How does a view depend on its request?",
        "What happens when I call a view in conf.py?",
        "Can a value in config.py affect a test?",
    ):
        assert not asks_for_relations(text, known)
