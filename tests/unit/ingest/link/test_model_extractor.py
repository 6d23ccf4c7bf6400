"""A language model as an extractor: what it says counts only where the text says it too."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from ingest.link.catalogue import build_catalogue
from ingest.link.extractors import MAX_FAILURES, MAX_NAMES, ModelExtractor, read_extraction
from ingest.link.mentions import mention_edges, read_document
from ingest.link.relations import relation_edges
from schemas.errors import FetchTimeout, Stopped
from schemas.ids import entity_id
from schemas.names import Extraction, Message, Triple
from tests.fakes.written_index import note, parse_note

TEXT = "the porter of hall nine keeps the great key."
STATED = {"subject": "porter of hall nine", "predicate": "keeps", "object": "great key", "text": TEXT[4:-1]}


class Model:
    """Gives one answer, or fails, and remembers what it was asked."""

    def __init__(self, answer: str | None) -> None:
        self.answer = answer
        self.asked: list[str] = []

    def __call__(self, messages: Sequence[Message], schema: Mapping[str, Any]) -> str:
        self.asked.append(messages[-1]["content"])
        if self.answer is None:
            raise FetchTimeout("no answer", subject="http://model.test")
        return self.answer


class KeptAnswers(dict[str, str]):
    """Answers in a dictionary."""

    def put(self, key: str, text: str) -> None:
        self[key] = text


def answer(entities: Sequence[object] = (), relations: Sequence[object] = ()) -> str:
    return json.dumps({"entities": list(entities), "relations": list(relations)})


def extractor(
    model: Model,
    answers: KeptAnswers | None = None,
    told: list[str] | None = None,
    *,
    should_stop: Callable[[], bool] = lambda: False,
) -> ModelExtractor:
    failures = [] if told is None else told
    return ModelExtractor(
        model,
        model="small",
        answers=KeptAnswers() if answers is None else answers,
        on_failure=lambda subject, message: failures.append(f"{subject}: {message}"),
        should_stop=should_stop,
    )


def test_names_and_statements_that_stand_in_the_text_are_kept() -> None:
    found = read_extraction(answer(["great key"], [STATED]), TEXT)
    assert found.triples == (Triple(**STATED),)
    assert found.names == ("great key", "porter of hall nine")
    assert found.dropped == 0


@pytest.mark.parametrize(
    "relation",
    [
        {**STATED, "text": "the porter keeps the key"},
        {**STATED, "object": "golden key"},
        {**STATED, "object": "nine keeps", "subject": "nine keeps"},
        {**STATED, "predicate": " "},
        {**STATED, "predicate": "k" * 100},
        {**STATED, "predicate": "keeps \ud83d"},
        {**STATED, "subject": 9},
        {key: value for key, value in STATED.items() if key != "text"},
        "porter keeps key",
        None,
    ],
)
def test_a_statement_that_does_not_stand_in_the_text_is_dropped(relation: object) -> None:
    assert read_extraction(answer(["great key"], [relation]), TEXT) == Extraction(
        names=("great key",), dropped=1
    )


def test_a_name_that_does_not_stand_in_the_text_is_dropped() -> None:
    names = ["great key", "Great Key", "", " great", 7, None, ["great key"], "great key"]
    found = read_extraction(answer(names), TEXT)
    assert (found.names, found.dropped) == (("great key",), len(names) - 1)


@pytest.mark.parametrize(
    "given",
    ["", "no JSON", "[]", "null", "7", '"great key"', "{" * 3000, "[" * 100_000, '{"entities": NaN'],
)
def test_an_answer_that_is_no_object_is_one_thing_dropped(given: str) -> None:
    assert read_extraction(given, TEXT) == Extraction(dropped=1)


def test_an_answer_of_other_fields_says_nothing() -> None:
    assert read_extraction('{"entities": "great key", "relations": {}, "more": [1]}', TEXT) == Extraction()


def test_more_than_the_limit_is_dropped() -> None:
    text = " ".join(f"key{n}" for n in range(100))
    found = read_extraction(answer(text.split()), text)
    assert (len(found.names), found.dropped) == (MAX_NAMES, 100 - MAX_NAMES)


def test_a_text_is_asked_about_once() -> None:
    model, answers = Model(answer(["great key"])), KeptAnswers()
    first, again = extractor(model, answers), extractor(model, answers)
    assert first.extract(TEXT) == again.extract(TEXT) == Extraction(names=("great key",))
    assert model.asked == [TEXT]
    assert first.extract("other") == Extraction(dropped=1)
    assert model.asked == [TEXT, "other"]


def test_a_model_that_does_not_answer_is_told_and_soon_left_alone() -> None:
    model, told, answers = Model(None), list[str](), KeptAnswers()
    reading = extractor(model, answers, told)
    assert [reading.extract(f"text {n}") for n in range(9)] == [Extraction()] * 9
    assert len(model.asked) == MAX_FAILURES
    assert told == ["http://model.test: no answer"] * MAX_FAILURES
    assert answers == {}


def test_an_answer_that_cannot_be_stored_is_a_failure() -> None:
    told, answers = list[str](), KeptAnswers()

    assert extractor(Model('{"entities": ["great key"]} \ud83d'), answers, told).extract(TEXT) == Extraction()
    assert (told, answers) == (["SITEGRAPH_LLM_URL: the model's answer contains a lone surrogate"], {})


def test_a_run_that_is_stopped_asks_no_more_but_reads_what_is_kept() -> None:
    model, answers = Model(answer(["great key"])), KeptAnswers()
    extractor(model, answers).extract(TEXT)
    stopped = extractor(model, answers, should_stop=lambda: True)

    assert stopped.extract(TEXT).names == ("great key",)
    with pytest.raises(Stopped):
        stopped.extract("other")
    assert model.asked == [TEXT]


def test_what_a_model_finds_becomes_mentions_and_relations() -> None:
    fragment = parse_note(note("Overview", TEXT))
    reading = extractor(Model(answer(["great key"], [STATED, {**STATED, "object": "nobody"}])))
    read = read_document(fragment, build_catalogue(()), targets={}, extractor=reading)
    mentioned = {edge.dst: edge for edge in mention_edges(read, source="notes")}
    porter, key = entity_id("porter of hall nine"), entity_id("great key")
    assert mentioned.keys() == {porter, key}
    (edge,) = relation_edges(read, source="notes")
    assert (edge.src, edge.dst, edge.predicate, edge.confidence) == (porter, key, "keeps", 0.6)
    assert edge.text == TEXT[4:-1]
    assert edge.text in fragment.chunks[0].text
    assert read.dropped == 1
