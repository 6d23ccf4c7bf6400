"""What counts of a model's reading."""

import json

import pytest

from retrieval.iterative.facts import EntityKind, StepFacts
from retrieval.iterative.readers import parse_facts
from tests.fakes.novels import evidence

NOVEL = evidence("Silver Harbour", "It is a novel by Ada Quill, born in Canada.")
OTHER = evidence("Tin Lantern", "It is by Bo Reed.")
WROTE = {
    "subject": "Ada Quill",
    "predicate": "wrote",
    "object": "Silver Harbour",
    "text": "a novel by Ada Quill",
}


def parse(entities: list[object], relations: list[object]) -> StepFacts:
    facts = parse_facts(json.dumps({"entities": entities, "relations": relations}), (NOVEL, OTHER), step=3)
    assert facts is not None
    return facts


def test_entities_are_found_where_they_stand() -> None:
    (mention,) = parse([{"name": "ada quill", "kind": "person", "aliases": ["A. Quill"]}], []).mentions
    assert (mention.step, mention.chunk, mention.kind) == (3, NOVEL.chunk_id, EntityKind.PERSON)
    assert mention.span is not None
    assert NOVEL.text[slice(*mention.span)] == "Ada Quill"
    assert mention.aliases == ("A. Quill",)


@pytest.mark.parametrize("given", [{"name": "Zorro"}, {"name": 3}, {}, "Ada Quill", None, {"name": ""}])
def test_what_stands_in_no_passage_or_is_no_entity_is_dropped_and_counted(given: object) -> None:
    facts = parse([given], [])
    assert (facts.mentions, facts.dropped) == ((), 1)


def test_a_title_is_text_as_well() -> None:
    (mention,) = parse([{"name": "Silver Harbour", "kind": "boat"}], []).mentions
    assert (mention.span, mention.kind) == (None, EntityKind.THING)


def test_attributes_count_if_their_value_is_in_the_passage() -> None:
    (mention,) = parse(
        [{"name": "Ada Quill", "attributes": ["Country: Canada", "country: France"]}], []
    ).mentions
    assert mention.attributes == (("country", "Canada"),)


def test_a_relation_stands_at_its_own_words() -> None:
    (statement,) = parse([], [WROTE]).statements
    assert (statement.chunk, NOVEL.text[slice(*statement.span)]) == (NOVEL.chunk_id, WROTE["text"])


@pytest.mark.parametrize(
    "change",
    [
        {"text": "a novel by Bo Reed"},
        {"subject": "Zorro"},
        {"object": "Tin Lantern"},
        {"predicate": ""},
        {"predicate": "x" * 61},
        {"text": None},
    ],
)
def test_a_relation_that_its_passage_does_not_state_is_dropped(change: dict[str, object]) -> None:
    facts = parse([], [{**WROTE, **change}])
    assert (facts.statements, facts.dropped) == ((), 1)


@pytest.mark.parametrize(
    "answer", ["", "{", "[]", "null", '{"entities": []}', '{"entities": {}, "relations": []}', "[" * 100_000]
)
def test_an_answer_of_another_shape_is_none(answer: str) -> None:
    assert parse_facts(answer, (NOVEL,), step=1) is None


def test_json_in_a_fence_is_read() -> None:
    assert parse_facts('```json\n{"entities": [], "relations": []}\n```', (NOVEL,), step=1) == StepFacts()


def test_a_model_that_says_the_same_for_ever_is_heard_sixty_times() -> None:
    facts = parse([{"name": "Ada Quill"}] * 10_000, [WROTE] * 10_000)
    assert (len(facts.mentions), len(facts.statements), facts.dropped) == (60, 60, 19_880)
