"""Words that search by words looks for."""

import pytest

from retrieval.question.words import searched_words


@pytest.mark.parametrize(
    ("text", "searched"),
    [
        ("How do I rotate the logs?", "rotate logs?"),
        ("What does the IT policy say?", "IT policy say?"),
        ("How do I use the CAN bus?", "use CAN bus?"),
        ("I can use it", "use"),
        ("HOW DO I ROTATE IT", "ROTATE"),
        ("what is it", "what is it"),
        ("Wo finde ich den Schlüssel zum Turm?", "finde Schlüssel Turm?"),
        ("¿Quién tiene la llave de la torre?", "llave torre?"),
        ("Où est la clé de la tour ?", "clé tour ?"),
        ("У кого есть второй ключ от башни?", "второй ключ башни?"),
        ("What does die() do in Perl?", "die() Perl?"),
        ("Die Hard", "Die Hard"),
        ("鍵はどこにありますか。", "鍵はどこにありますか。"),
    ],
)
def test_stop_words_are_left_out_and_names_in_capitals_are_not(text: str, searched: str) -> None:
    assert searched_words(text) == searched
