"""Which of several entities of one name a document means."""

from ingest.link.catalogue import EntityCandidate
from ingest.link.mentions import DocumentContext, choose_meanings

PLANET = EntityCandidate(entity="entity:p", confidence=0.9, disambiguation="planet", docs=("page:p",))
ELEMENT = EntityCandidate(
    entity="entity:e", confidence=0.9, disambiguation="chemical element", docs=("page:e",)
)
HERE = DocumentContext(doc="page:here")


def chosen(*candidates: EntityCandidate, reading: DocumentContext = HERE) -> list[tuple[str, float]]:
    return [(found.entity, found.confidence) for found in choose_meanings(candidates, reading)]


def test_one_candidate_is_meant() -> None:
    assert chosen(PLANET) == [("entity:p", 0.9)]


def test_of_several_none_is_meant_without_a_sign() -> None:
    assert chosen(PLANET, ELEMENT) == []


def test_a_document_means_itself_by_its_own_name() -> None:
    assert chosen(PLANET, ELEMENT, reading=DocumentContext(doc="page:e")) == [("entity:e", 0.9)]


def test_a_document_means_the_term_that_it_explains() -> None:
    terms = [
        EntityCandidate(entity=f"entity:{doc}", confidence=0.8, definers=(f"page:{doc}",)) for doc in "ab"
    ]
    assert chosen(*terms, reading=DocumentContext(doc="page:b")) == [("entity:b", 0.8)]


def test_the_one_that_is_linked_is_meant_and_less_sure() -> None:
    reading = DocumentContext(doc="page:here", linked=frozenset({"page:e"}))
    assert chosen(PLANET, ELEMENT, reading=reading) == [("entity:e", 0.8)]
    both = DocumentContext(doc="page:here", linked=frozenset({"page:e", "page:p"}))
    assert chosen(PLANET, ELEMENT, reading=both) == []


def test_the_one_whose_distinguishing_words_are_used_is_meant() -> None:
    assert chosen(PLANET, ELEMENT, reading=DocumentContext(doc="x", words=frozenset({"element"}))) == []
    words = frozenset({"element", "chemical"})
    assert chosen(PLANET, ELEMENT, reading=DocumentContext(doc="x", words=words)) == [("entity:e", 0.7)]


def test_the_code_of_several_ids_means_them_all() -> None:
    shared = [EntityCandidate(entity=f"entity:{n}", confidence=0.9, is_prefix=True) for n in range(3)]
    assert [entity for entity, _ in chosen(*shared, PLANET)] == [
        "entity:p",
        "entity:0",
        "entity:1",
        "entity:2",
    ]
