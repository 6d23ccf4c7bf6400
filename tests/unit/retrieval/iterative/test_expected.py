"""What a question asks for, and what a name may be."""

import pytest

from retrieval.iterative.facts import EntityKind, expected_kind, kind_of_span, kind_of_title


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("Who directed the film that was shot near Leland?", EntityKind.PERSON),
        ("When did Lothair II's mother die?", EntityKind.DATE),
        ("Where was the author of Silver Harbour born?", EntityKind.PLACE),
        ("In what county is the city where Harris was born?", EntityKind.PLACE),
        ("Italy entered a war in which year?", EntityKind.DATE),
        ("What currency predated the Euro in Finland?", None),
        ("Which film came first, Tin Lantern or Silver Harbour?", None),
    ],
)
def test_the_question_word_says_what_is_asked_for(question: str, kind: EntityKind | None) -> None:
    assert expected_kind(question) is kind


@pytest.mark.parametrize(
    ("lead", "kind"),
    [
        ("Ada Quill (born 4 May 1893) wrote verse.", EntityKind.PERSON),
        ("Bo Reed was an English footballer.", EntityKind.PERSON),
        ("Port Almond is a small coastal town.", EntityKind.PLACE),
        ("Silver Harbour is a 1931 mystery novel by Ada Quill, a writer.", EntityKind.WORK),
        ("Quill & Reed is a publishing company.", EntityKind.ORGANISATION),
        ("Set the size of the log.", EntityKind.THING),
    ],
)
def test_the_first_sentence_says_what_a_page_is_about(lead: str, kind: EntityKind) -> None:
    assert kind_of_title(lead) is kind


@pytest.mark.parametrize(
    ("name", "before", "kind"),
    [
        ("1931", "sold well in ", EntityKind.DATE),
        ("4 August 1843", "on ", EntityKind.DATE),
        ("Ada Quill", "is a novel by ", EntityKind.PERSON),
        ("Port Almond", "She was born in ", EntityKind.PLACE),
        ("Quill University", "She went to ", EntityKind.ORGANISATION),
        ("Silver Harbour", "She wrote ", EntityKind.THING),
    ],
)
def test_the_words_before_a_name_say_what_it_may_be(name: str, before: str, kind: EntityKind) -> None:
    assert kind_of_span(name, before) is kind
