"""What passages may call a tool."""

import pytest

from ingest.link.tool_names import fold_name, is_distinct, tool_names
from tests.fakes.tools import make_tool

_NAMES = tool_names(
    [
        make_tool("shop.Cart.add", tool_type="py:method"),
        make_tool("shop.Basket.add", tool_type="py:method"),
        make_tool("shop.url_for", tool_type="py:function"),
        make_tool("get"),
        make_tool("shop open", tool_type="command", aliases=("open-shop",)),
        make_tool("getCart", endpoints=("GET /carts/{id}",)),
    ]
)


def _seen(text: str) -> list[tuple[str, str]]:
    return [
        (_NAMES.tools[place].name, text[sighting.start : sighting.end])
        for sighting in _NAMES.sightings(text)
        for place in sighting.tools
    ]


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("Call shop.Cart.add twice.", [("shop.Cart.add", "shop.Cart.add")]),
        ("Cart.add() is enough", [("shop.Cart.add", "Cart.add")]),
        ("add() is whose?", []),
        ("with url_for, too", [("shop.url_for", "url_for")]),
        ("my_url_for is another", []),
        ("get it, or get off", []),
        ("get(1)", [("get", "get")]),
        ("$ get milk", [("get", "get")]),
        ("forget(1)", []),
        ("then shop open, or", [("shop open", "shop open")]),
        ("a shop opened", []),
        ("shop open-all, shop open.all", []),
        ("to shop open.", [("shop open", "shop open")]),
        ("open-shop", [("shop open", "open-shop")]),
        ("GET /carts/17 gives it", []),
        ("GET /carts/:id gives it", [("getCart", "GET /carts/:id")]),
        ("GET /carts/<int:id>", [("getCart", "GET /carts/<int:id>")]),
    ],
)
def test_a_text_names_a_tool_by_a_code_a_call_a_phrase_or_an_endpoint(
    text: str, seen: list[tuple[str, str]]
) -> None:
    assert _seen(text) == seen


@pytest.mark.parametrize(
    ("heading", "name"),
    [
        ("shop.url_for", "shop.url_for"),
        ("The shop open command", "shop open"),
        ("shop-open(1)", "shop open"),
        ("shop-open(1) Manual Page", "shop open"),
        ("get()", "get"),
        ("Get", "get"),
        ("getCart", "getCart"),
        ("Cart", None),
        ("", None),
    ],
)
def test_a_heading_is_the_name_of_a_tool(heading: str, name: str | None) -> None:
    assert [_NAMES.tools[place].name for place in _NAMES.named(heading)] == ([name] if name else [])


@pytest.mark.parametrize(
    ("anchor", "name"),
    [
        ("shop.Cart.add", "shop.Cart.add"),
        ("shop-open", "shop open"),
        ("tag/carts/operation/getCart", "getCart"),
        ("shop-cart", None),
    ],
)
def test_an_id_is_the_name_of_a_tool(anchor: str, name: str | None) -> None:
    assert [_NAMES.tools[place].name for place in _NAMES.anchored(anchor)] == ([name] if name else [])


def test_ids_that_differ_in_case_alone_are_those_of_two_tools() -> None:
    names = tool_names([make_tool("web.Request"), make_tool("web.request")])
    assert [names.tools[place].name for place in names.anchored("web.request")] == ["web.request"]
    assert names.anchored("WEB.REQUEST") == ()


def test_a_tool_that_two_files_describe_is_named_by_both() -> None:
    names = tool_names([make_tool("url_for"), make_tool("url_for", doc="tools:b")])
    assert [len(sighting.tools) for sighting in names.sightings("url_for")] == [2]


@pytest.mark.parametrize(
    "name", ["url_for", "HTTPAdapter", "getCart", "pg-dump", "Flask.run", "--host", "sha256"]
)
def test_a_code_is_no_everyday_word(name: str) -> None:
    assert is_distinct(name)


@pytest.mark.parametrize("name", ["get", "index", "Session", "DEBUG", "run"])
def test_a_word_of_prose_is_one(name: str) -> None:
    assert not is_distinct(name)


def test_folding_takes_case_and_signs() -> None:
    assert fold_name("Git_Clone (1)") == "git-clone-1"


@pytest.mark.parametrize("heading", [" x".join([" " * 200_000] * 2), "(" * 200_000, "a" + " class" * 200_000])
def test_no_heading_takes_long(heading: str) -> None:
    assert _NAMES.named(heading) == ()
