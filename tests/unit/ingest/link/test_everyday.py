"""Which texts can be names at all."""

import pytest

from ingest.link.naming import is_code_name, is_name, is_several_words, is_symbol


@pytest.mark.parametrize(
    "text",
    [
        "Lothair II",
        "Mercury",
        "GOV-0017",
        "Testing Flask Applications",
        "flask.Flask",
        "max_wal_size",
        "C4.5 Rules",
    ],
)
def test_a_name_has_a_word_of_its_own(text: str) -> None:
    assert is_name(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "A",
        "GPS",
        "overview",
        "Introduction",
        "See Also",
        "Table of Contents",
        "the night porter",
        "2024",
        "What's New",
        "https://site.test/Guide",
        "Two\nLines",
        "Word " * 40,
    ],
)
def test_what_is_short_everyday_small_or_long_is_no_name(text: str) -> None:
    assert not is_name(text)


def test_a_symbol_is_told_from_a_word() -> None:
    assert [
        text for text in ("os.path", "run()", "a_b", "CVE-12", "Path", "e-mail", "v1.2") if is_code_name(text)
    ] == [
        "os.path",
        "run()",
        "a_b",
        "CVE-12",
        "v1.2",
    ]


@pytest.mark.parametrize(
    ("text", "symbol"),
    [
        ("__name__", True),
        ("flask.Flask.run", True),
        ("max_wal_size", True),
        ("run()", True),
        ("Flask.run(host=None, port=None)", True),
        ("v2.17.3", True),
        ("RFC-2616", False),
        ("SHA-1", False),
        ("Mercury (planet)", False),
        ("git-config(1)", False),
        ("Write-Ahead Log", False),
    ],
)
def test_a_symbol_of_a_program_is_told_from_an_id_and_a_name(text: str, symbol: bool) -> None:
    assert is_symbol(text) is symbol


def test_articles_and_prepositions_do_not_count_as_words() -> None:
    assert is_several_words("Gate House")
    assert not is_several_words("The Gate")


@pytest.mark.parametrize("text", ["Signatory" + "_" * 100 + " X", "Ada" + "_b" * 50 + " X"])
def test_a_line_to_fill_in_takes_no_long_look(text: str) -> None:
    assert is_name(text)
    assert not is_symbol(text)


def test_no_long_text_takes_long() -> None:
    assert not is_symbol("_" * 20_000 + "!")
    assert is_symbol("_a" * 20_000)
