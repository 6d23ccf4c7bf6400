"""Sphinx's objects.inv."""

import zlib

import pytest

from ingest.parse.tools import documented
from ingest.parse.tools.documented import parse_inventory
from schemas.errors import ParseError

_HEADER = b"# Sphinx inventory version 2\n# Project: It\n# Version: 1\n# The remainder is zlib.\n"


def _inventory(*lines: str) -> bytes:
    return _HEADER + zlib.compress("\n".join([*lines, ""]).encode())


def test_everything_but_pages_labels_and_terms_is_a_tool() -> None:
    tools = parse_inventory(
        _inventory(
            "shop.Cart py:class 1 api.html#$ -",
            "shop.Cart.add item py:method 1 api.html#shop.Cart.add -",
            "index std:doc -1 index.html Welcome",
            "cart std:label -1 api.html#cart The cart",
            "basket std:term -1 glossary.html#term-$ -",
            "SHOP_HOME std:envvar 1 usage.html#envvar-$ -",
        )
    )
    assert [(tool.name, tool.tool_type) for tool in tools] == [
        ("shop.Cart", "py:class"),
        ("shop.Cart.add item", "py:method"),
        ("SHOP_HOME", "std:envvar"),
    ]


def test_a_display_name_is_an_alias() -> None:
    (tool,) = parse_inventory(_inventory("shop::Cart cpp:class 1 api.html#x Cart of a shop"))
    assert tool.aliases == ("Cart of a shop",)


def test_the_options_of_a_program_become_one_tool() -> None:
    (tool,) = parse_inventory(
        _inventory("shop-run.--port std:cmdoption 1 cli.html#$ -", "shop-run.-p std:cmdoption 1 cli.html#$ -")
    )
    assert (tool.name, tool.options) == ("shop-run", ("--port", "-p"))


def test_a_route_is_named_by_method_and_path() -> None:
    (tool,) = parse_inventory(_inventory("/carts/{id} http:get 1 http.html#x -"))
    assert (tool.name, tool.endpoints) == ("GET /carts/{id}", ("GET /carts/{id}",))


def test_where_an_object_stands_is_not_read() -> None:
    here, there = (
        parse_inventory(_inventory(f"shop.Cart py:class 1 {place} -")) for place in ("a.html#$", "b.html#c")
    )
    assert here == there


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"# Sphinx inventory version 1\n# Project: a\n# Version: 1\nx mod y\n#\n", "another version"),
        (b"# Sphinx inventory version 2\n", "not a Sphinx inventory"),
        (_HEADER + b"no zlib", "damaged"),
        (_inventory("shop.Cart py:class 1 a -")[:-6], "cut short"),
        (_inventory("one word"), "damaged"),
        (_HEADER + zlib.compress(b"\xff\xfe"), "not UTF-8"),
    ],
)
def test_a_broken_inventory_says_what_is_wrong(data: bytes, reason: str) -> None:
    with pytest.raises(ParseError, match=reason):
        parse_inventory(data)


def test_a_zip_bomb_is_not_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documented, "MAX_UNPACKED", 1 << 20)
    with pytest.raises(ParseError, match="unpacks to more than"):
        parse_inventory(_HEADER + zlib.compress(bytes(1 << 24)))


def test_an_inventory_of_too_many_objects_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documented, "MAX_TOOLS", 10)
    with pytest.raises(ParseError, match="more than 10"):
        parse_inventory(_inventory(*(f"shop.f{number} py:function 1 a -" for number in range(11))))
