"""OpenAPI: what comes of operations, which files are taken, and what bad ones end in."""

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from ingest.parse.formats import openapi
from ingest.parse.formats.registry import is_listed
from schemas.errors import ParseError, UnsupportedMedia
from tests.fakes.pages import links_of, parse_file, sections_of, texts_of

SAMPLES = Path(__file__).parents[4] / "samples" / "formats"
parse = partial(parse_file, path="specs/light.json")


def api(paths: Any = None, **more: Any) -> str:
    """A document with these paths."""
    return json.dumps({"openapi": "3.0.3", "info": {"title": "Lamps"}, "paths": paths or {}, **more})


def fields_of(schema: Any, **more: Any) -> list[str]:
    """Rows of a body that is sent, of this schema."""
    body = {"content": {"application/json": {"schema": schema}}}
    (text,) = [
        one.text
        for one in sections_of(parse(api({"/a": {"post": {"requestBody": body}}}, **more)))
        if one.heading == "POST /a"
    ]
    return text.splitlines()[1:]


def test_an_operation_is_a_section_under_its_tag_with_its_place_in_the_file() -> None:
    fragment = parse((SAMPLES / "openapi.1.json").read_bytes())

    found = [(one.level, one.heading_path, one.fragment) for one in sections_of(fragment)]
    assert found[:-1] == [
        (1, ("Keeping the light",), None),
        (2, ("Keeping the light", "Signals"), "signals"),
        (2, ("Keeping the light", "GET /oil: Oil in the store"), "/paths/~1oil/get"),
        (2, ("Keeping the light", "POST lampOut (webhook): A lamp went out"), "/webhooks/lampOut/post"),
        (2, ("Keeping the light", "Trimming the wick"), None),
        (
            3,
            ("Keeping the light", "Trimming the wick", "PUT /lamps/{lamp}/wick: Trim a wick"),
            "/paths/~1lamps~1%7Blamp%7D~1wick/put",
        ),
    ]
    assert found[-1][1][-2:] == ("PUT /lamps/{lamp}/wick: Trim a wick", "Never")
    assert fragment.warnings == ("files that it takes in are not read: oil.json#/answer",)
    assert links_of(fragment)["bell"].target == "files://notes/specs/bells.html"


def test_parameters_bodies_and_answers_are_rows_with_what_is_said_of_them() -> None:
    texts = texts_of(parse((SAMPLES / "openapi.1.json").read_bytes()))

    assert texts["PUT /lamps/{lamp}/wick: Trim a wick"] == (
        "Operation: trimWick\nAlso under: Daily\n\n"
        "Let the lamp cool first.\n\n"
        "Parameters:\n- lamp (path, integer, required): Number of the lamp.\n\n"
        "Request body (application/json, required)\n"
        "- breadth (number, required, default: 18): A finger's breadth, in millimetres.\n"
        "- shape (string, one of: flat, round)\n\n"
        "Response 200 (application/json): The wick as it is now.\n"
        "- [].length (number or null): What is left of it.\n"
        "- [].spare (object): The next one.\n\n"
        "Response 404: There is no such lamp."
    )
    assert texts["GET /oil: Oil in the store"] == "Deprecated.\n\nResponse default"


def test_swagger_2_is_read_too() -> None:
    fragment = parse_file((SAMPLES / "openapi.2.yaml").read_bytes(), "boats.yaml")

    assert (fragment.kind, fragment.title) == ("openapi", "Boats of the island")
    assert texts_of(fragment)["Boats of the island"] == "Version 1.0\nServer: boats.example/v1"
    assert texts_of(fragment)["POST /landings: Ask for a landing"] == (
        "Parameters:\n- fog (query, boolean): Whether there is fog.\n\n"
        "Request body: The boat that lands.\n"
        "- name (string, required): As it is painted on the bow.\n- seats (integer)\n\n"
        "Response 201: Come on Thursday.\n- day (string date)\n\nResponse 409: Wait at the outer buoy."
    )


@pytest.mark.parametrize(
    ("name", "text", "taken"),
    [
        ("a.json", '{"openapi": "3.0.0"}', True),
        ("a.json", '\ufeff{"info": {"title": "x}"}, "swagger" : "2.0"}', True),
        ("a.yaml", "---\n# x\nopenapi: 3.1.0\n", True),
        ("a.yml", "'swagger': '2.0'\n", True),
        ("openapi.json", '{"components": {', True),
        ("my-openapi.yaml", "components:\n  a: 1\n", True),
        ("a.json", '{"components": {', False),
        ("openapi.json", '{"lockfile": 1', False),
        ("package.json", '{"dependencies": {"swagger": "2.0.1", "openapi": "3.0.0"}}', False),
        ("a.yaml", "tools:\n  openapi: 3.1.0\n", False),
        ("a.json", '{"openapi": "4.0.0"}', False),
        ("a.txt", '{"openapi": "3.0.0"}', False),
    ],
)
def test_of_files_in_json_and_yaml_only_those_that_say_so_are_listed(
    name: str, text: str, taken: bool
) -> None:
    assert is_listed(f"Specs/{name.upper()}", text.encode) is taken


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"openapi": "3.0.0", "paths": ', "not valid JSON"),
        ('{"openapi": "3.0.0", "paths": []}', "paths: should be a mapping"),
        ('{"openapi": "3.0.0", "a": ' + "[" * 100_000, "nested too deep"),
        ("openapi: 3.0.0\na: &x [1]\nb: [*x, *x]", "anchors and aliases"),
        ("openapi: 3.0.0\n- a", "not valid YAML"),
    ],
)
def test_what_cannot_be_read_is_an_error_that_says_why(text: str, reason: str) -> None:
    with pytest.raises(ParseError, match=rf"light\.json: .*{reason}"):
        parse(text)


def test_a_named_file_without_a_version_is_told_what_it_lacks() -> None:
    with pytest.raises(ParseError, match="write `openapi:`"):
        parse_file('{"components": {}}', "openapi.json")
    with pytest.raises(UnsupportedMedia):
        parse_file('{"components": {}}', "a.json", content_type="application/json")


def test_references_that_lead_back_to_themselves_or_nowhere_end() -> None:
    schemas = {
        "A": {"$ref": "#/components/schemas/B"},
        "B": {"$ref": "#/components/schemas/A"},
        "C": {"allOf": [{"$ref": "#/components/schemas/C"}], "properties": {"x": {"type": "string"}}},
    }
    kept = {"components": {"schemas": schemas}}

    assert fields_of({"$ref": "#/components/schemas/A"}, **kept) == []
    assert fields_of({"$ref": "#/components/schemas/Z"}, **kept) == []
    assert set(fields_of({"$ref": "#/components/schemas/C"}, **kept)) == {"- x (string)"}


OIL = {"description": "An oil.", "type": "string", "enum": ["rape", "seal"]}
LAMP = {"properties": {"oil": {"$ref": "#/components/schemas/Oil"}}}


@pytest.mark.parametrize(
    ("schema", "rows"),
    [
        (
            {"properties": {"a": {"allOf": [{"$ref": "#/components/schemas/Oil"}, {"description": "Its."}]}}},
            ["- a (string, one of: rape, seal): Its. An oil."],
        ),
        (
            {"properties": {"a": {"$ref": "#/components/schemas/Oil", "description": "Its."}}},
            ["- a (string, one of: rape, seal): Its. An oil."],
        ),
        (
            {"type": "array", "items": {"$ref": "#/components/schemas/Oil"}},
            ["- [] (string, one of: rape, seal): An oil."],
        ),
        (
            {"description": "By name.", "additionalProperties": LAMP},
            ["By name.", "- *.oil (string, one of: rape, seal): An oil."],
        ),
        (
            {"oneOf": [{"description": "Lit.", "properties": {"a": {}}}, {"description": "Out."}]},
            ["Lit.", "- a", "Out."],
        ),
        (
            {"properties": {"a": {"items": {"allOf": [{"items": {"allOf": [LAMP]}}]}}}},
            ["- a", "- a[][].oil (string, one of: rape, seal): An oil."],
        ),
    ],
)
def test_what_is_said_of_a_schema_is_said_wherever_it_stands(schema: Any, rows: list[str]) -> None:
    assert fields_of(schema, components={"schemas": {"Oil": OIL}}) == rows


def test_parameters_paths_and_answers_say_all_that_is_said_of_them() -> None:
    lamp = {"name": "lamp", "in": "query", "schema": {"description": "Which.", **LAMP}}
    headers = {"X-Left": {"description": "Left.", "schema": {"type": "integer"}}}
    content = {"text/xml": {"schema": {"properties": {"x": {}}}}, "application/json": {"schema": LAMP}}
    answer = {"description": "Good.", "headers": headers, "content": content}
    get = {"description": "One.", "parameters": [lamp], "responses": {"200": answer}}
    path = {"description": "All lamps.", "servers": [{"url": "https://x"}], "get": get}
    fragment = parse(api({"/a": path}, components={"schemas": {"Oil": OIL}}))

    assert sections_of(fragment)[-1].text == (
        "Server: https://x\n\nOne.\n\nAll lamps.\n\nParameters:\n- lamp (query): Which.\n"
        "- lamp.oil (string, one of: rape, seal): An oil.\n\n"
        "Response 200 (application/json, text/xml): Good.\n- X-Left (header, integer): Left.\n"
        "- oil (string, one of: rape, seal): An oil.\n- x"
    )


def test_a_few_references_cannot_stand_for_fields_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    schemas = {
        f"W{d}": {"properties": {f"f{n}": {"$ref": f"#/components/schemas/W{d + 1}"} for n in range(30)}}
        for d in range(9)
    }
    body = {"content": {"a/b": {"schema": {"$ref": "#/components/schemas/W0"}}}}
    monkeypatch.setattr(openapi, "MAX_ROWS", 1_000)
    paths = {f"/{n}": {"post": {"requestBody": body}} for n in range(20)}
    fragment = parse(api(paths, components={"schemas": schemas}))

    texts = [one.text for one in sections_of(fragment) if one.level == 2]
    counts = [text.count("\n- ") for text in texts]
    assert counts[:4] == [openapi.MAX_FIELDS] * 4
    assert 1_000 - 10 < sum(counts) + 4 <= 1_000
    assert counts[5:] == [0] * 15
    assert texts[0].endswith("\n[… more fields]")
    assert fragment.warnings == ("more than 1000 fields; the rest was left out",)


@pytest.mark.parametrize("wrong", [None, 1, "x", [], ["x"], {}, {"x": 1}, True])
@pytest.mark.parametrize(
    "key", ["tags", "summary", "parameters", "requestBody", "responses", "description", "operationId"]
)
def test_what_is_of_a_wrong_type_costs_nothing_else(key: str, wrong: Any) -> None:
    fragment = parse(api({"/a": {"get": {"description": "Kept.", **{key: wrong}}, "x-y": wrong}}))
    assert any(one.heading.startswith("GET /a") for one in sections_of(fragment))
