"""Relations that sentences state."""

from dataclasses import replace

import pytest

from ingest.link.catalogue import build_catalogue
from ingest.link.mentions import MAX_NAMES, mention_edges, read_document
from ingest.link.relations import MAX_RELATIONS, predicate_between, relation_edges, sentence_spans
from schemas.edges import Edge
from schemas.ids import entity_id
from tests.fakes.written_index import note, parse_note


def relations(text: str, title: str = "Overview") -> tuple[Edge, ...]:
    read = read_document(parse_note(note(title, text)), build_catalogue(()), targets={})
    return relation_edges(read, source="notes")


@pytest.mark.parametrize(
    ("words", "predicate", "confidence"),
    [
        (" is the capital of ", "is capital of", 0.8),
        (" was an American director of the ", "was an American director of", None),
        (" is a part of the ", "is part of", 0.8),
        (" depends on the ", "depends on", 0.7),
        (" was later directed by ", "directed by", 0.7),
        (" (born 1950) wrote ", "wrote", 0.7),
        (", author of ", "author of", 0.65),
        (", the second son of the ", "second son of", 0.65),
    ],
)
def test_what_stands_between_two_names_may_state_a_relation(
    words: str, predicate: str, confidence: float | None
) -> None:
    assert predicate_between(words) == (None if confidence is None else (predicate, confidence))


@pytest.mark.parametrize(
    "words",
    [" ", " and ", ", ", ", directed by ", " directed by ", " said nothing of it. ", ", and ancestor of "],
)
def test_mere_company_states_nothing(words: str) -> None:
    assert predicate_between(words) is None


def test_a_relation_carries_its_sentence_and_its_chunk() -> None:
    text = "It rained. The Gate House depends on the Night Porter. It rained again."
    (edge,) = relations(text)
    assert (edge.src, edge.dst) == (entity_id("Gate House"), entity_id("Night Porter"))
    assert edge.text == "The Gate House depends on the Night Porter."
    assert (edge.predicate, edge.confidence, edge.count) == ("depends on", 0.6, 1)
    assert edge.chunk is not None


def test_names_in_different_sentences_are_not_related() -> None:
    assert relations("Ask at the Gate House. Night Porter depends on nobody.") == ()


def test_a_relation_stated_twice_is_one_edge() -> None:
    (edge,) = relations(
        "The Gate House depends on the Night Porter. The Gate House depends on the Night Porter!"
    )
    assert edge.count == 2


def test_a_chunk_states_few_relations_and_mentions_few_names() -> None:
    text = " ".join(f"Gate House{n} depends on Night Porter{n}." for n in "ABCDEFG")
    text = text.replace("House", "House ").replace("Porter", "Porter ")
    fragment = parse_note(note("Overview", text.replace("  ", " ")))
    read = read_document(fragment, build_catalogue(()), targets={})
    assert len(mention_edges(read, source="notes")) == MAX_NAMES
    assert len(relation_edges(read, source="notes")) <= MAX_RELATIONS


def test_sentences_end_at_stops_before_a_capital_and_at_lines() -> None:
    text = "One e.g. two. Three!\n\n- four\n  Five 1.5 six"
    assert [text[start:end] for start, end in sentence_spans(text)] == [
        "One e.g. two.",
        "Three!",
        "- four",
        "Five 1.5 six",
    ]


def test_the_same_relation_of_another_document_is_another_edge() -> None:
    one = relations("The Gate House depends on the Night Porter.")[0]
    read = read_document(
        parse_note(note("Overview", "The Gate House depends on the Night Porter."), path="b.md"),
        build_catalogue(()),
        targets={},
    )
    other = relation_edges(read, source="notes")[0]
    assert one.id != other.id
    assert replace(one, id="", doc="", chunk=None) == replace(other, id="", doc="", chunk=None)
