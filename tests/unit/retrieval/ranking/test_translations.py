"""Of a page and its translations, what they say is said once."""

from dataclasses import replace

import pytest

from retrieval.question.query import filters_from_record
from retrieval.ranking.score import Scored
from retrieval.ranking.translations import (
    find_translations,
    keep_one_language,
    keep_one_page,
    match_places,
    read_families,
)
from retrieval.retriever import Retriever
from schemas.edges import EdgeKind
from schemas.evidence import Origin, Query, Scores
from schemas.nodes import Chunk
from tests.fakes.small_index import AS_OF, GENERATION, Document, SmallIndex, build_index, page, typed


def written(name: str, lang: str, **sections: str) -> Document:
    """A page in one language."""
    nodes, chunks = page(name, sections)
    return nodes, tuple(replace(one, lang=lang) for one in chunks)


ENGLISH = written("a", "en", Bell="The bell rings.", Tide="The tide is high.", Oil="Oil burns.")
GERMAN = written("b", "de-AT", Glocke="Die bell ist laut.", Flut="Die tide ist hoch.", Rest="Das oil.")
FRENCH = written("c", "fr", Cloche="The bell rings, oui.", Huile="Oil burns, oui.")
BOTH_BELLS = {ENGLISH[1][0].id: {GERMAN[1][0].id}, GERMAN[1][0].id: {ENGLISH[1][0].id}}


def joined(*documents: Document, pairs: tuple[tuple[int, int], ...]) -> SmallIndex:
    """An index in which the documents of each pair, by place, name each other."""
    first = [chunks[0] for _, chunks in documents]
    both = [one for left, right in pairs for one in ((left, right), (right, left))]
    return build_index(documents, [typed(EdgeKind.TRANSLATES, first[src], first[dst]) for src, dst in both])


def scored(*chunks: Chunk) -> list[Scored]:
    return [Scored(chunk=one, scores=Scores(), source=Origin.VECTOR, role="rest") for one in chunks]


def ids(found: tuple[Scored, ...]) -> list[str]:
    return [one.chunk.id for one in found]


def test_documents_that_name_each_other_are_a_family_also_through_a_third() -> None:
    index = joined(ENGLISH, GERMAN, FRENCH, pairs=((0, 1), (0, 2)))
    german, french = GERMAN[1][0], FRENCH[1][0]
    assert read_families(index.graph, scored(german, french)) == (frozenset({german.doc, french.doc}),)


def test_one_that_is_not_named_back_is_no_translation() -> None:
    english, german = ENGLISH[1][0], GERMAN[1][0]
    index = build_index([ENGLISH, GERMAN], [typed(EdgeKind.TRANSLATES, english, german)])
    assert read_families(index.graph, scored(english, german)) == ()


def test_the_graph_is_not_asked_where_all_is_in_one_language() -> None:
    assert read_families(None, scored(*ENGLISH[1])) == ()  # type: ignore[arg-type]


def pairs(*joined: tuple[Chunk, Chunk]) -> dict[str, set[str]]:
    return {one.id: {other.id} for left, right in joined for one, other in ((left, right), (right, left))}


def test_with_one_outline_the_same_place_says_the_same() -> None:
    index = joined(ENGLISH, GERMAN, pairs=((0, 1),))
    families = read_families(index.graph, scored(ENGLISH[1][0], GERMAN[1][1]))
    found = find_translations(index.chunks, families, by_sense=False)
    assert found == pairs(*zip(ENGLISH[1], GERMAN[1], strict=True))


@pytest.mark.parametrize("by_sense", [True, False])
def test_with_another_outline_those_that_are_nearest_to_each_other_do(by_sense: bool) -> None:
    index = joined(ENGLISH, FRENCH, pairs=((0, 1),))
    (bell, _, oil), (cloche, huile) = ENGLISH[1], FRENCH[1]
    families = read_families(index.graph, scored(bell, cloche))
    found = find_translations(index.chunks, families, by_sense=by_sense)
    assert found == (pairs((bell, cloche), (oil, huile)) if by_sense else {})


def test_a_section_of_more_passages_in_one_language_is_paired_by_their_middles() -> None:
    (bell, *_), (glocke, *_) = ENGLISH[1], GERMAN[1]
    cut = [replace(glocke, id=f"chunk:{at}", ordinal=at) for at in range(3)]
    assert match_places([bell], cut) == {(bell.id, f"chunk:{at}") for at in range(3)}
    assert match_places([bell, replace(bell, id="chunk:end")], cut) == {
        (bell.id, "chunk:0"),
        ("chunk:end", "chunk:1"),
        ("chunk:end", "chunk:2"),
    }


@pytest.mark.parametrize(
    ("language", "kept"), [("de", [1, 2]), ("en", [0, 2]), (None, [0, 2]), ("fr", [0, 2])]
)
def test_what_is_in_the_language_asked_in_stands_for_all(language: str | None, kept: list[int]) -> None:
    (bell, *_), (glocke, flut, _) = ENGLISH[1], GERMAN[1]
    candidates = [replace(one, place=at) for at, one in enumerate(scored(bell, glocke, flut))]
    found = keep_one_language(candidates, BOTH_BELLS, language)
    assert ids(found) == [candidates[at].chunk.id for at in kept]
    assert [one.place for one in found] == [0, 2], "it stands at the place of the best"


def test_of_pages_one_of_each_family_is_listed() -> None:
    (bell, *_), (_, flut, _), (cloche, _) = ENGLISH[1], GERMAN[1], FRENCH[1]
    families = (frozenset({bell.doc, flut.doc}),)
    assert ids(keep_one_page(scored(bell, flut, cloche), families, "de")) == [flut.id, cloche.id]
    assert ids(keep_one_page(scored(bell, flut, cloche), families, None)) == [bell.id, cloche.id]
    abroad = replace(flut, lang="en-GB")
    assert ids(keep_one_page(scored(bell, abroad), families, "en")) == [bell.id, abroad.id], "of one language"


@pytest.mark.parametrize(
    ("filters", "languages"),
    [({}, {"en"}), ({"lang": "de-AT"}, {"de-AT"}), ({"lang": ["en", "de-AT"]}, {"en", "de-AT"})],
)
def test_who_names_languages_gets_what_each_says(filters: dict[str, object], languages: set[str]) -> None:
    index = joined(ENGLISH, GERMAN, pairs=((0, 1),))
    query = Query(text="when is the bell rung by the tide", filters=filters_from_record(filters), top_k=6)
    retriever = Retriever(index.chunks, index.graph, index.encoder, generation=GENERATION, as_of=AS_OF)
    found = retriever.retrieve(query).evidence
    assert {one.lang for one in index.chunks.get([one.chunk_id for one in found])} == languages


def test_what_a_question_brings_is_asked_in_the_language_of_whoever_asks() -> None:
    index = joined(ENGLISH, GERMAN, pairs=((0, 1),))
    retriever = Retriever(index.chunks, index.graph, index.encoder, generation=GENERATION, as_of=AS_OF)
    for language in ("en", "de"):
        found = replace(retriever, language=language).retrieve(Query(text="bell tide", top_k=6)).evidence
        langs = [one.lang for one in index.chunks.get([one.chunk_id for one in found])]
        assert {(lang or "")[:2] for lang in langs} == {language}
