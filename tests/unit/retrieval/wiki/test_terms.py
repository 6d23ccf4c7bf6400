"""What a question is about."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.question.words import STOP_WORDS
from retrieval.wiki.evidence import parse_query


@pytest.mark.parametrize(
    ("query", "phrases", "keywords"),
    [
        (
            "Why does a memory leak cause the System Crash?",
            "memory leak|system crash",
            "memory leak cause system crash",
        ),
        ("What is GPS?", "", "gps"),
        ("set max_wal_size, then --dry-run", "", "set max_wal_size --dry-run"),
        ("What depends on GOV-0017?", "", "depends gov-0017"),
        ("Write-Ahead Log, UTF-8 Files", "write-ahead log|utf-8 files", "write-ahead log utf-8 files"),
        ("How does the Session API's cache work with io.UnsupportedOperation?", "session api's cache", None),
        ("how is it?", "", "how is it"),
        ("", "", ""),
    ],
)
def test_a_question_is_read_as_noun_phrases_and_keywords_in_lower_case(
    query: str, phrases: str, keywords: str | None
) -> None:
    terms = parse_query(query)
    assert terms.phrases == tuple(filter(None, phrases.split("|")))
    if keywords is not None:
        assert terms.keywords == tuple(keywords.split())


@given(st.text(alphabet="abA Ωthe,.-?_'", max_size=60))
@settings(max_examples=100, deadline=None)
def test_stop_words_and_capitals_are_never_keywords_unless_there_is_nothing_else(query: str) -> None:
    keywords = parse_query(query).keywords
    assert all(word == word.lower() for word in keywords)
    assert not set(keywords) & STOP_WORDS or set(keywords) <= STOP_WORDS | {""}
