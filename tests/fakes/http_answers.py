"""Answers held against an OpenAPI document, and requests made from it."""

from typing import Any

from hypothesis import strategies as st
from jsonschema import Draft202012Validator

_ANYTHING = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**65), 2**65),
    st.text(max_size=20),
    st.lists(st.text(max_size=5), max_size=3),
    st.dictionaries(st.text(max_size=5), st.integers(), max_size=3),
)


def check_answer(contract: dict[str, Any], path: str, method: str, response: Any) -> None:
    """Assert that the answer has a status, a type and a body that *contract* says it may have."""
    stated = contract["paths"][path][method]["responses"]
    assert str(response.status_code) in stated, (response.status_code, response.text[:300])
    content = stated[str(response.status_code)]["content"]
    media = response.headers["content-type"].partition(";")[0]
    assert media in content
    if "json" in media:
        schema = {**content[media]["schema"], "components": contract["components"]}
        Draft202012Validator(schema).validate(response.json())


def valid(contract: dict[str, Any], schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Values that keep a schema of a request; as much of JSON Schema as our requests use."""
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if "$ref" in schema:
        return valid(contract, contract["components"]["schemas"][schema["$ref"].rpartition("/")[2]])
    if "anyOf" in schema:
        return st.one_of(*(valid(contract, one) for one in schema["anyOf"]))
    match schema.get("type"):
        case "object" if "properties" in schema:
            return _objects(contract, schema)
        case "object":
            stated = schema["additionalProperties"]
            values = _ANYTHING if stated is True else valid(contract, stated)
            return st.dictionaries(st.text(max_size=8), values, max_size=3)
        case "array":
            return st.lists(valid(contract, schema["items"]), max_size=3)
        case "integer":
            return st.integers(schema.get("minimum", -(2**40)), schema.get("maximum", 2**40))
        case "boolean":
            return st.booleans()
        case "null":
            return st.none()
    if pattern := schema.get("pattern"):
        return st.from_regex(pattern, fullmatch=pattern.startswith("^"))
    return st.text(min_size=schema.get("minLength", 0), max_size=min(schema.get("maxLength", 40), 40))


def _objects(contract: dict[str, Any], schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    parts = {name: valid(contract, one) for name, one in schema["properties"].items()}
    required = {name: parts.pop(name) for name in schema.get("required", ())}
    return st.fixed_dictionaries(required, optional=parts)


def spoilt(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Objects of *values* with something else in one place, one key more or one less; or no object."""

    def spoil(value: dict[str, Any], key: str, other: Any, drop: bool) -> dict[str, Any]:
        name = sorted(value)[0] if drop or key == "" else key
        return {k: v for k, v in value.items() if k != name} if drop else {**value, name: other}

    keys = st.one_of(
        st.sampled_from(["query", "filters", "top_k", "use_graph", "persona", "tool"]), st.text()
    )
    return st.one_of(_ANYTHING, st.builds(spoil, values, keys, _ANYTHING, st.booleans()))
