"""The OpenAPI document: it is published, it is valid, and whatever is asked, answers keep it."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient

from tests.fakes.governance import governance_documents

PUBLISHED = Path(__file__).parents[4] / "docs" / "reference" / "openapi.json"
CONTRACT: dict[str, Any] = json.loads(PUBLISHED.read_text("utf-8")) if PUBLISHED.exists() else {}
KNOWN = [chunk.id for _, found in governance_documents()[0] for chunk in found] + [
    nodes[0].id for nodes, _ in governance_documents()[0]
]

SCHEMA = schemathesis.openapi.from_dict(CONTRACT) if CONTRACT else None

fuzzed = settings(
    max_examples=10,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def test_the_published_contract_is_that_of_the_code(client: TestClient) -> None:
    served = client.get("/openapi.json").json()
    if os.environ.get("WRITE_GOLDEN") == "1":
        PUBLISHED.write_text(json.dumps(served, indent=1, sort_keys=True) + "\n")
    assert served == json.loads(PUBLISHED.read_text("utf-8")), "WRITE_GOLDEN=1 writes it again"


def test_the_contract_names_every_path_with_its_problems() -> None:
    assert set(CONTRACT["paths"]) == {
        *(
            "/retrieve",
            "/chunks/{id}",
            "/chunks/{id}/history",
            "/chunks/{id}/page.png",
            "/chunks/{id}/figure.png",
            "/documents/{id}",
            "/changes",
        ),
        *("/healthz", "/readyz", "/source"),
    }
    for methods in CONTRACT["paths"].values():
        for operation in methods.values():
            assert {"200", "401", "403", "413", "422", "500", "503", "504"} <= set(operation["responses"])
    assert "HTTPValidationError" not in json.dumps(CONTRACT)


if SCHEMA is not None:

    @SCHEMA.parametrize()
    @fuzzed
    def test_whatever_is_asked_is_answered_by_the_contract(
        client: TestClient, case: schemathesis.Case
    ) -> None:
        """Right requests and wrong ones, made by schemathesis, with all of its checks."""
        response = ask(client, case)
        if response.status_code == 404 and response.json()["error"] == "Refused":
            return  # an id that is no part of a path leads nowhere
        case.validate_response(response, excluded_checks=_not_told_by_the_schema(case, response))


def _not_told_by_the_schema(case: schemathesis.Case, response: Any) -> list[Any]:
    """What a filter may say follows from its field, versions and audiences are those of the index."""
    if "build it with: sitegraph audiences --add allow=" in response.text:
        return [schemathesis.checks.positive_data_acceptance]
    filtered = isinstance(case.body, dict) and (case.body.get("filters") or case.body.get("version"))
    wrong = filtered and response.status_code == 422 and response.json()["error"] == "FilterError"
    return [schemathesis.checks.positive_data_acceptance] if wrong else []


def ask(client: TestClient, case: schemathesis.Case) -> Any:
    """Send a request of schemathesis by our client."""
    parts = case.as_transport_kwargs(base_url="http://127.0.0.1")
    return client.request(**{name: part for name, part in parts.items() if name != "cookies"})


@pytest.mark.parametrize("path", [path for path in CONTRACT.get("paths", {}) if "{id}" in path])
def test_what_is_there_is_answered_by_the_contract(client: TestClient, path: str) -> None:
    operation = schemathesis.openapi.from_dict(CONTRACT)[path]["GET"]
    for known in KNOWN:
        case = operation.Case(path_parameters={"id": known})
        case.validate_response(ask(client, case))


@fuzzed
@given(body=st.binary(max_size=200))
def test_bytes_of_any_kind_are_answered_by_the_contract(client: TestClient, body: bytes) -> None:
    response = client.post("/retrieve", content=body, headers={"content-type": "application/json"})
    operation = schemathesis.openapi.from_dict(CONTRACT)["/retrieve"]["POST"]
    operation.Case(media_type="application/json").validate_response(
        response, excluded_checks=[schemathesis.checks.negative_data_rejection]
    )
