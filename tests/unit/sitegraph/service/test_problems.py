"""Each error has its answer, and only what the asker can put right is told in full."""

import json
from collections.abc import Iterator
from typing import Annotated

import pytest
from pydantic import Field, TypeAdapter, ValidationError

from schemas import errors
from sitegraph.service.contract import AS_OF, CHUNK_ID, DOCUMENT_ID, RetrieveRequest
from sitegraph.service.mcp_.tools import TOOLS
from sitegraph.service.pages.opened import NODE_ID, PDF_ID
from sitegraph.service.problems import HttpProblem, first_fault, problem_of, respond

STATUS = {
    errors.FilterError: 422,
    errors.QueryRefused: 403,
    errors.ChangesUnavailable: 410,
    errors.ConfigError: 503,
    errors.StoreUnavailable: 503,
    errors.ParserUnavailable: 503,
    errors.FetchTimeout: 503,
    errors.HostBusy: 503,
}


@pytest.mark.parametrize(
    "leaf",
    [*errors.TransientError.__subclasses__(), *errors.TerminalError.__subclasses__(), errors.Stopped],
    ids=lambda leaf: leaf.__name__,
)
def test_every_error_has_its_status(leaf: type[errors.SitegraphError]) -> None:
    problem = problem_of(leaf("cannot be read at /srv/index", subject="chunks"))
    assert problem.status == STATUS.get(leaf, 500)
    assert problem.error == leaf.__name__
    assert ("/srv" in problem.detail) is (problem.status < 500)
    assert ("Retry-After" in problem.headers) is (problem.status == 503)


def patterns(schema: object) -> Iterator[str]:
    """Every pattern that a value of a schema must match."""
    if isinstance(schema, dict):
        if isinstance(schema.get("pattern"), str):
            yield schema["pattern"]
        schema = list(schema.values())
    for part in schema if isinstance(schema, list) else ():
        yield from patterns(part)


def test_no_pattern_is_told_of_a_value_that_does_not_match_one() -> None:
    asked = [RetrieveRequest, *(tool.arguments for tool in TOOLS)]
    found = {CHUNK_ID, DOCUMENT_ID, AS_OF, NODE_ID, PDF_ID} | set(
        patterns([cls.model_json_schema() for cls in asked])
    ) - set(patterns(RetrieveRequest.model_json_schema()["properties"]["filters"]))
    assert len(found) > 6
    for pattern in found:
        checked = TypeAdapter(Annotated[str, Field(pattern=pattern)])
        with pytest.raises(ValidationError) as raised:
            checked.validate_python("\n")
        said = first_fault(raised.value.errors())
        assert said.startswith("must be "), pattern
        assert not set("[{^$\\") & set(said)


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ({"top-k": 5}, "top-k: "),
        ({"filters": {"doc-type": {}}}, "filters.doc-type: "),
        ({"filters": {"path": {}}}, "filters.path: "),
        ({"filters": {"source": [{}]}}, "filters.source: "),
        ({"as_of": "then"}, "as_of: "),
    ],
)
def test_a_fault_names_the_field_as_it_was_sent(body: dict[str, object], named: str) -> None:
    with pytest.raises(ValidationError) as raised:
        RetrieveRequest.model_validate({"query": "x", **body})
    assert first_fault(raised.value.errors()).startswith(named)


def test_a_problem_is_json_whatever_it_says() -> None:
    response = respond(HttpProblem(422, "half a pair \ud800\nof lines", "X"))
    assert json.loads(bytes(response.body)) == {
        "type": "about:blank",
        "title": "Unprocessable Entity",
        "status": 422,
        "detail": "half a pair \ud800 of lines",
        "error": "X",
    }
