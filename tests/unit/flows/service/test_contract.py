"""The OpenAPI document: it is published, it is valid, and whatever is asked, answers keep it."""

import json
import os
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient

from tests.fakes.governance import governance_documents
from tests.fakes.http_answers import check_answer, spoilt, valid

PUBLISHED = Path(__file__).parents[4] / "docs" / "reference" / "openapi.json"
CONTRACT: dict[str, Any] = json.loads(PUBLISHED.read_text("utf-8")) if PUBLISHED.exists() else {}
KNOWN = [chunk.id for _, found in governance_documents()[0] for chunk in found] + [
    nodes[0].id for nodes, _ in governance_documents()[0]
]
GETS = [path for path, methods in CONTRACT.get("paths", {}).items() if "get" in methods]

fuzzed = settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def test_the_published_contract_is_that_of_the_code(client: TestClient) -> None:
    served = client.get("/openapi.json").json()
    if os.environ.get("WRITE_GOLDEN") == "1":
        PUBLISHED.write_text(json.dumps(served, indent=1, sort_keys=True) + "\n")
    assert served == json.loads(PUBLISHED.read_text("utf-8")), "WRITE_GOLDEN=1 writes it anew"


def test_the_contract_names_every_path_with_its_problems() -> None:
    assert set(CONTRACT["paths"]) == {
        *("/retrieve", "/chunks/{id}", "/chunks/{id}/page.png", "/documents/{id}", "/changes"),
        *("/healthz", "/readyz"),
    }
    for methods in CONTRACT["paths"].values():
        for operation in methods.values():
            assert {"200", "401", "413", "422", "500", "503", "504"} <= set(operation["responses"])
    assert "HTTPValidationError" not in json.dumps(CONTRACT)


@fuzzed
@given(body=valid(CONTRACT, {"$ref": "#/components/schemas/RetrieveRequest"}) if CONTRACT else st.none())
def test_a_question_that_keeps_the_contract_is_answered_by_it(client: TestClient, body: Any) -> None:
    response = client.post("/retrieve", json=body)
    check_answer(CONTRACT, "/retrieve", "post", response)
    assert response.status_code == 200 or (response.status_code == 422 and body.get("filters"))


@fuzzed
@given(
    body=spoilt(valid(CONTRACT, {"$ref": "#/components/schemas/RetrieveRequest"})) if CONTRACT else st.none()
)
def test_a_question_that_breaks_the_contract_is_told_so(client: TestClient, body: Any) -> None:
    check_answer(CONTRACT, "/retrieve", "post", client.post("/retrieve", json=body))


@fuzzed
@given(body=st.binary(max_size=200))
def test_bytes_of_any_kind_are_answered_by_the_contract(client: TestClient, body: bytes) -> None:
    response = client.post("/retrieve", content=body, headers={"content-type": "application/json"})
    check_answer(CONTRACT, "/retrieve", "post", response)


@pytest.mark.parametrize("path", GETS)
@fuzzed
@given(data=st.data())
def test_whatever_is_asked_for_is_answered_by_the_contract(
    client: TestClient, path: str, data: st.DataObject
) -> None:
    url, query = path, {}
    for parameter in CONTRACT["paths"][path]["get"].get("parameters", ()):
        right = valid(CONTRACT, parameter["schema"])
        if parameter["in"] == "path":
            value = data.draw(st.one_of(st.sampled_from(KNOWN), right, st.text(min_size=1, max_size=30)))
            url = url.replace(f"{{{parameter['name']}}}", quote(value, safe=""))
        elif data.draw(st.booleans()):
            query[parameter["name"]] = data.draw(st.one_of(right, st.text(max_size=10)))
    response = client.get(url, params={k: v for k, v in query.items() if v is not None})
    if response.status_code == 404 and response.json()["error"] == "Refused":
        return  # an id that is no part of a path leads nowhere
    check_answer(CONTRACT, path, "get", response)
