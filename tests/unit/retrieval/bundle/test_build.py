"""The published contract of a bundle holds for real bundles."""

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from retrieval.bundle.annotations import GIST_WORDS, gist_of
from retrieval.question.query import build_query
from retrieval.retriever import Retriever
from schemas.evidence import Citation, ContextBundle, Evidence, ToolPlan
from schemas.records import from_record, to_record
from tests.fakes.governance import governance_index
from tests.fakes.small_index import AS_OF, GENERATION

SCHEMA = Path(__file__).parents[4] / "docs" / "reference" / "bundle.schema.json"


@pytest.fixture(scope="module")
def validator() -> Draft202012Validator:
    schema = json.loads(SCHEMA.read_text("utf-8"))
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


@pytest.fixture(scope="module")
def retriever() -> Retriever:
    index = governance_index()
    return Retriever(index.chunks, index.graph, index.encoder, generation=GENERATION, as_of=AS_OF)


def bundle_record(retriever: Retriever, text: str, **options: Any) -> dict[str, Any]:
    record = to_record(retriever.retrieve(build_query(text, **options)))
    loaded: dict[str, Any] = json.loads(json.dumps(record, allow_nan=False))
    return loaded


@pytest.mark.parametrize(
    "text",
    ["What depends on GOV-0017?", "page 3", "cold storage", "how big is max_wal_size", "zzz", "backup"],
)
def test_bundles_keep_the_published_schema(
    validator: Draft202012Validator, retriever: Retriever, text: str
) -> None:
    for options in ({}, {"use_graph": False}, {"token_budget": 16, "top_k": 50}):
        validator.validate(bundle_record(retriever, text, **options))


def test_the_schema_names_exactly_the_fields_of_the_classes(validator: Draft202012Validator) -> None:
    schema = validator.schema
    assert isinstance(schema, dict)
    for cls, part in (
        (ContextBundle, schema),
        (Evidence, schema["$defs"]["evidence"]),
        (Citation, schema["$defs"]["citation"]),
        (ToolPlan, schema["$defs"]["tool_plan"]),
    ):
        assert list(part["properties"]) == list(cls.__dataclass_fields__) == part["required"]


def test_the_schema_refuses_what_is_no_bundle(validator: Draft202012Validator, retriever: Retriever) -> None:
    record = bundle_record(retriever, "backup")
    assert not validator.is_valid({**record, "time": 1})
    assert not validator.is_valid({**record, "route": "guess"})
    record["evidence"][0]["score"] = 2
    assert not validator.is_valid(record)


def test_a_bundle_survives_its_json_form(retriever: Retriever) -> None:
    bundle = retriever.retrieve(build_query("What depends on GOV-0017?"))
    assert from_record(ContextBundle, json.loads(json.dumps(to_record(bundle)))) == bundle


def test_scores_are_rounded_to_six_places(retriever: Retriever) -> None:
    evidence = retriever.retrieve(build_query("backup")).evidence
    assert evidence
    for one in evidence:
        assert all(value == round(value, 6) for value in (one.score, *to_record(one.scores).values()))


@pytest.mark.parametrize(
    ("text", "gist"),
    [
        ("One. Two.", "One."),
        ("It says “stop.” Then\nit stops.", "It says “stop.”"),
        ("No end of\nany kind", "No end of any kind"),
        ("add_library(myLib out.c)\n\nadds a command. More.", "add_library(myLib out.c)"),
        ("", ""),
        ("Version 3.1 is out. More.", "Version 3.1 is out."),
    ],
)
def test_a_gist_is_the_first_sentence(text: str, gist: str) -> None:
    assert gist_of(text) == gist


def test_a_gist_has_at_most_thirty_words() -> None:
    gist = gist_of(" ".join(["word"] * 50))
    assert (len(gist.split()), gist[-1]) == (GIST_WORDS, "…")
