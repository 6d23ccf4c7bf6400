"""Second questions: how they are worded, and what they activate."""

import pytest

from retrieval.graph.second_query import FoundDocument, ask_again, make_sub_query
from retrieval.graph.spreading import Reach, Spread
from retrieval.question.words import cut_sentences
from schemas.nodes import Chunk, DocumentKind


@pytest.mark.parametrize(
    ("question", "title", "sentences", "sub_query"),
    [
        (
            "When did Lothair II's mother die?",
            "Lothair II",
            ["He ruled Lotharingia from 855.", "His mother was Ermengarde of Tours."],
            "When did s mother die Ermengarde of Tours",
        ),
        (
            "Who wrote the song Changed It?",
            "Changed It",
            ["In 2016 it won a prize.", "The song is by Nicki Minaj."],
            "Who wrote the song Nicki Minaj",
        ),
        ("Where was the singer of Changed It born?", "Changed It", ["no names here"], None),
        ("Lothair II", "Lothair II", ["His mother was Ermengarde."], None),
        ("Who wrote it?", "Changed It", [], None),
    ],
)
def test_what_the_title_leaves_open_is_asked_with_new_names(
    question: str, title: str, sentences: list[str], sub_query: str | None
) -> None:
    assert make_sub_query(question, title, sentences) == sub_query


def test_at_most_four_names_are_added_and_none_that_the_question_has() -> None:
    sentence = "Ann, Bob, Carl, Dora, Emil and Fred met Gina in 1999."
    assert (
        make_sub_query("Who met Bob there?", "Party", [sentence])
        == "Who met Bob there Ann Carl Dora Emil and Fred"
    )


def test_sentences_end_at_their_signs() -> None:
    assert cut_sentences("One is 3.5 long. Two?\n\nThree") == ("One is 3.5 long.", "Two?", "Three")
    assert cut_sentences("add(out.c)\n\nadds\na command.") == ("add(out.c)", "adds a command.")


def chunk(doc: str, text: str) -> Chunk:
    return Chunk(
        id=f"chunk:{doc}",
        kind=DocumentKind.HTML,
        source="s",
        doc=doc,
        text=text,
        content_hash="h",
        ordinal=0,
        offsets=(0, 1),
        token_count=1,
        heading_path=(doc,),
    )


def test_finds_are_lit_by_the_asking_document_and_ask_once_more() -> None:
    texts = {
        "Song": chunk("Song", "The song was sung by Nicki Minaj."),
        "Minaj": chunk("Minaj", "The singer was born in Saint James."),
    }
    asked: list[str] = []

    def search(text: str) -> tuple[FoundDocument, ...]:
        asked.append(text)
        doc = "Minaj" if "Nicki" in text and "Saint" not in text else "James"
        return (
            FoundDocument(doc="Song", chunk="chunk:Song", hit=1.0),
            FoundDocument(doc=doc, chunk=f"chunk:{doc}", hit=0.8),
        )

    start = Spread(anchors={"Song": 1.0}, ran=True)
    activated, sub_queries = ask_again(
        "Where was the singer of Song born?",
        start,
        search=search,
        read=lambda docs: {doc: (texts[doc],) for doc in docs if doc in texts},
    )
    assert tuple(asked) == sub_queries
    assert len(sub_queries) == 2
    assert activated.reached["Minaj"].activation == pytest.approx(0.75 * 0.8)
    assert activated.reached["James"].activation == pytest.approx(0.75 * 0.6 * 0.8)
    assert [(step.src, step.kind, step.dst) for step in activated.reached["James"].path] == [
        ("Song", "second_query", "Minaj"),
        ("Minaj", "second_query", "James"),
    ]
    assert "Song" not in activated.reached


def test_a_find_never_lowers_a_higher_activation_from_the_graph() -> None:
    strong = Reach(activation=0.9, path=())
    activated, _ = ask_again(
        "Where was the singer of Song born?",
        Spread(anchors={"Song": 1.0}, reached={"Minaj": strong}, ran=True),
        search=lambda text: (FoundDocument(doc="Minaj", chunk="chunk:Minaj", hit=1.0),),
        read=lambda docs: {"Song": (chunk("Song", "It was sung by Nicki Minaj."),)},
    )
    assert activated.reached["Minaj"] is strong
