"""What is one entity and what are two."""

from retrieval.iterative.facts import EntityKind, NameMention, Statement, StepFacts
from retrieval.iterative.graph import EntityCluster, EntityGraph, Graph, merge, resolve


def mention(name: str, chunk: str = "a", *, at: int = 0, **fields: object) -> NameMention:
    return NameMention(step=1, chunk=chunk, span=(at, at + len(name)), name=name, **fields)  # type: ignore[arg-type]


def statement(subject: str, object_: str, chunk: str = "a", *, at: int = 0) -> Statement:
    return Statement(
        step=1, chunk=chunk, span=(at, at + 1), subject=subject, predicate="knows", object=object_
    )


def read(*mentions: NameMention, statements: tuple[Statement, ...] = ()) -> EntityGraph:
    return resolve(merge(Graph(), StepFacts(mentions=mentions, statements=statements)))


def names(graph: EntityGraph) -> list[str]:
    return [one.name for one in graph.entities]


def of_name(graph: EntityGraph, name: str) -> list[EntityCluster]:
    return [one for one in graph.entities if one.name == name]


def test_names_are_one_whatever_their_case_space_and_punctuation() -> None:
    graph = read(mention("Harper Lee"), mention("HARPER  LEE", "b"), mention("Harper-Lee", "c"))
    assert names(graph) == ["Harper Lee"]


def test_aliases_are_resolved() -> None:
    graph = read(mention("USA"), mention("United States", "b", aliases=("USA", "US")), mention("US", "c"))
    assert names(graph) == ["USA"]


def test_homonyms_are_kept_apart_by_the_page_they_are() -> None:
    graph = read(mention("Mercury", "a", ref="page:1"), mention("Mercury", "b", ref="page:2"))
    assert len(of_name(graph, "Mercury")) == 2


def test_homonyms_are_kept_apart_by_attributes_that_conflict() -> None:
    graph = read(
        mention("Cambridge", "a", attributes=(("country", "UK"),)),
        mention("Cambridge", "b", attributes=(("country", "US"),)),
        mention("Cambridge", "c", attributes=(("country", "uk"), ("river", "Cam"))),
    )
    assert [dict(one.attributes)["country"] for one in of_name(graph, "Cambridge")] == ["UK", "US"]


def test_attributes_that_a_thing_may_have_several_of_tell_nothing_apart() -> None:
    graph = read(
        mention("Ada", "a", attributes=(("work", "singer"),)),
        mention("Ada", "b", attributes=(("work", "actor"),)),
    )
    assert [one.attributes for one in graph.entities] == [(("work", "singer"), ("work", "actor"))]


def test_a_bare_name_of_several_joins_the_one_of_its_own_passage() -> None:
    graph = read(
        mention("Mercury", "a", ref="page:1"),
        mention("Mercury", "b", ref="page:2"),
        mention("Mercury", "b", at=40),
    )
    assert [len(one.mentions) for one in graph.entities] == [1, 2]


def test_a_bare_name_of_several_that_no_passage_explains_stands_alone() -> None:
    graph = read(
        mention("Mercury", "a", ref="page:1"), mention("Mercury", "b", ref="page:2"), mention("Mercury", "c")
    )
    assert len(of_name(graph, "Mercury")) == 3


def test_a_statement_joins_the_entity_of_its_own_passage() -> None:
    graph = read(
        mention("Mercury", "a", ref="page:1"),
        mention("Mercury", "b", ref="page:2"),
        mention("Sun", "b", at=20),
        statements=(statement("Mercury", "Sun", "b"),),
    )
    (triple,) = graph.triples
    assert graph.entities[triple.subject].refs == {"page:2"}


def test_a_statement_about_what_was_dropped_is_no_triple() -> None:
    assert read(mention("Sun"), statements=(statement("Sun", "Unicorn"),)).triples == ()


def test_entities_stand_in_order_of_first_appearance() -> None:
    later = NameMention(step=2, chunk="a", span=(0, 3), name="Zed")
    graph = read(later, mention("Moon", "b"), mention("Sun", "a", at=9), mention("Ark", "a", at=30))
    assert names(graph) == ["Sun", "Ark", "Moon", "Zed"]


def test_an_entity_is_of_the_kind_that_most_of_its_mentions_are() -> None:
    graph = read(
        mention("Ada", "a"),
        mention("Ada", "b", kind=EntityKind.PERSON),
        mention("Ada", "c", kind=EntityKind.PERSON),
    )
    assert [one.kind for one in graph.entities] == [EntityKind.PERSON]
