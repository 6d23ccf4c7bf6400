"""How far things are from the question, and what is left out for being too far."""

from itertools import pairwise

import pytest

from retrieval.iterative.facts import NameMention, Statement, StepFacts
from retrieval.iterative.graph import (
    EntityGraph,
    Graph,
    distances,
    merge,
    prune_graph,
    resolve,
    shortest_path,
    subjects_of,
)

CHAIN = ("Ann", "Bob", "Cid", "Dan", "Eve", "Fay")


def chain(*pairs: tuple[str, str]) -> EntityGraph:
    names = dict.fromkeys(name for pair in pairs for name in pair)
    mentions = tuple(
        NameMention(step=1, chunk="a", span=(place, place + 1), name=name) for place, name in enumerate(names)
    )
    statements = tuple(
        Statement(step=1, chunk="a", span=(place, place + 1), subject=src, predicate="knows", object=dst)
        for place, (src, dst) in enumerate(pairs)
    )
    return resolve(merge(Graph(), StepFacts(mentions=mentions, statements=statements)))


@pytest.fixture
def graph() -> EntityGraph:
    return chain(*pairwise(CHAIN))


def names(graph: EntityGraph) -> list[str]:
    return [one.name for one in graph.entities]


def test_the_subjects_are_what_the_question_names(graph: EntityGraph) -> None:
    assert [names(graph)[place] for place in subjects_of("Whom does Bob or Eve know?", graph.entities)] == [
        "Bob",
        "Eve",
    ]


def test_distance_counts_triples_either_way(graph: EntityGraph) -> None:
    assert distances(graph, [2]) == {2: 0, 1: 1, 3: 1, 0: 2, 4: 2, 5: 3}


def test_the_nearest_goal_ends_the_path(graph: EntityGraph) -> None:
    path = shortest_path(graph, 0, {2, 4})
    assert [(one.subject, one.object) for one in path] == [(0, 1), (1, 2)]
    assert shortest_path(graph, 0, {0}) == ()


def test_what_lies_beyond_three_hops_of_the_question_is_pruned(graph: EntityGraph) -> None:
    kept = prune_graph(graph, "Whom does Ann know?")
    assert names(kept) == ["Ann", "Bob", "Cid", "Dan"]
    assert [(one.subject, one.object) for one in kept.triples] == [(0, 1), (1, 2), (2, 3)]


def test_the_farthest_go_first_where_room_is_short(graph: EntityGraph) -> None:
    assert names(prune_graph(graph, "Whom does Cid know?", room=3)) == ["Bob", "Cid", "Dan"]


def test_what_no_triple_joins_to_the_question_is_pruned() -> None:
    graph = chain(("Ann", "Bob"), ("Yan", "Zoe"))
    assert names(prune_graph(graph, "Whom does Ann know?")) == ["Ann", "Bob"]


def test_nothing_is_too_far_from_a_question_that_names_nothing_read(graph: EntityGraph) -> None:
    assert names(prune_graph(graph, "Whom does Xaver know?")) == list(CHAIN)
