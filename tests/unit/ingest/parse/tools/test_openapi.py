"""OpenAPI 3 and Swagger 2."""

import json
from typing import Any

import pytest

from ingest.parse.tools.lists import parse_openapi
from schemas.errors import ParseError

_SHOP: dict[str, Any] = {
    "openapi": "3.1.0",
    "paths": {
        "/carts/{id}": {
            "parameters": [{"$ref": "#/components/parameters/id"}],
            "get": {"operationId": "getCart", "summary": "One cart."},
            "put": {
                "requestBody": {
                    "required": True,
                    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Cart"}}},
                }
            },
        }
    },
    "components": {
        "parameters": {"id": {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}},
        "schemas": {
            "Cart": {"type": "object", "properties": {"next": {"$ref": "#/components/schemas/Cart"}}}
        },
    },
}


def _shop(**operation: Any) -> dict[str, Any]:
    return {"openapi": "3.0.0", "paths": {"/a": {"get": operation}}}


def test_every_operation_is_a_tool_named_by_its_id_or_its_endpoint() -> None:
    assert [tool.name for tool in parse_openapi(_SHOP)] == ["getCart", "PUT /carts/{id}"]


def test_parameters_of_path_and_operation_become_one_schema() -> None:
    get, _ = parse_openapi(_SHOP)
    assert get.options == ("id",)
    assert json.loads(get.input_schema or "") == {
        "type": "object",
        "properties": {"id": {"type": "string"}},
        "required": ["id"],
    }


def test_a_schema_that_holds_itself_ends() -> None:
    _, put = parse_openapi(_SHOP)
    schema = json.loads(put.input_schema or "")
    assert schema["required"] == ["body", "id"]
    assert schema["properties"]["body"]["properties"]["next"]["type"] == "object"


def test_references_that_double_at_every_level_stay_small() -> None:
    levels = {
        f"s{n}": {"properties": {side: {"$ref": f"#/definitions/s{n + 1}"} for side in "abcdefgh"}}
        for n in range(40)
    }
    tree = {
        "swagger": "2.0",
        "definitions": {**levels, "s40": {}},
        "paths": {"/a": {"post": {"parameters": [{"in": "body", "schema": {"$ref": "#/definitions/s0"}}]}}},
    }
    (tool,) = parse_openapi(tree)
    assert len(tool.input_schema or "") < 50_000


def test_swagger_2_has_types_beside_names_and_a_base_path() -> None:
    tree = {
        "swagger": "2.0",
        "basePath": "/v1/",
        "paths": {"/pets": {"get": {"parameters": [{"name": "limit", "in": "query", "type": "integer"}]}}},
    }
    (tool,) = parse_openapi(tree)
    assert tool.endpoints == ("GET /pets", "GET /v1/pets")
    assert json.loads(tool.input_schema or "")["properties"] == {"limit": {"type": "integer"}}


@pytest.mark.parametrize(
    ("tree", "reason"),
    [
        ({"openapi": "3.0.0", "paths": []}, "paths: should be a mapping"),
        (_shop(parameters=[{"$ref": "other.yaml#/x"}]), "leads out of the file"),
        (_shop(parameters=[{"$ref": "#/components/nobody"}]), "leads nowhere"),
        (_shop(operationId=7), r"paths\./a\.get\.operationId: should be a text"),
        (
            {**_shop(parameters=[{"$ref": "#/x"}]), "x": {"$ref": "#/x"}},
            "does not end",
        ),
    ],
)
def test_a_broken_document_names_the_place(tree: object, reason: str) -> None:
    with pytest.raises(ParseError, match=reason):
        parse_openapi(tree)
