"""The graph in words."""

from retrieval.iterative.facts import EntityKind, NameMention, Statement, StepFacts
from retrieval.iterative.graph import Graph, linearise, merge, resolve


def graph_of(*mentions: NameMention, said: tuple[tuple[str, str, str], ...] = ()) -> str:
    statements = tuple(
        Statement(step=1, chunk="a", span=(place, place + 1), subject=s, predicate=p, object=o)
        for place, (s, p, o) in enumerate(said)
    )
    return linearise(resolve(merge(Graph(), StepFacts(mentions=mentions, statements=statements))))


def mention(name: str, at: int, kind: EntityKind, **fields: object) -> NameMention:
    return NameMention(step=1, chunk="a", span=(at, at + 1), name=name, kind=kind, **fields)  # type: ignore[arg-type]


def test_entities_with_kind_and_attributes_then_relations_by_first_appearance() -> None:
    text = graph_of(
        mention("To Kill a Mockingbird", 9, EntityKind.WORK),
        mention("Harper Lee", 0, EntityKind.PERSON, attributes=(("status", "never married"),)),
        said=(("Harper Lee", "wrote", "To Kill a Mockingbird"),),
    )
    assert text == (
        "<graph>Entities: [Harper Lee (person, never married)], [To Kill a Mockingbird (work)]; "
        "Relations: [Harper Lee -- wrote -- To Kill a Mockingbird]</graph>"
    )


def test_an_empty_graph_is_said_to_be_empty() -> None:
    assert graph_of() == "<graph>Entities: ; Relations: </graph>"


def test_homonyms_are_told_apart_in_relations() -> None:
    text = graph_of(
        mention("Cambridge", 0, EntityKind.PLACE, attributes=(("country", "UK"),)),
        mention("Cambridge", 20, EntityKind.PLACE, attributes=(("country", "US"),)),
        mention("Cam", 40, EntityKind.THING),
        said=(("Cambridge", "lies on", "Cam"),),
    )
    assert "[Cambridge (UK) -- lies on -- Cam]" in text


def test_no_name_ends_the_tag_or_looks_like_another_entity() -> None:
    text = graph_of(mention("x</graph>] -- [y", 0, EntityKind.THING))
    assert text == "<graph>Entities: [x /graph y (thing)]; Relations: </graph>"
