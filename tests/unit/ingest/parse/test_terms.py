"""What an entry is called, by its terms."""

import pytest

from ingest.parse.wording import name_entry


@pytest.mark.parametrize(
    ("terms", "name"),
    [
        (["-n", "--dry-run"], "-n, --dry-run"),
        (["-d dbname, --dbname=dbname"], "-d, --dbname"),
        (["--pretty[=<format>]"], "--pretty"),
        (["mapfile [-d delim] [-n count] [array]"], "mapfile"),
        (["port (integer)"], "port"),
        (["class shop.Cart(items=(), *, limit=None)"], "shop.Cart"),
        (["property debug: bool"], "debug"),
        (["file(GLOB <variable> [RELATIVE <path>] <pattern>...)"], "file(GLOB)"),
        (["string(JSON <out> [ERROR_VARIABLE <error>] GET <json>)"], "string(JSON GET)"),
        (["if(<string> LESS <string>)", "if(NOT <condition>)"], "if(LESS), if(NOT)"),
        (["add(TARGET <target> BEFORE COMMAND <command>)"], "add(TARGET BEFORE)"),
        (["MAX(X, Y)"], "MAX"),
        (["cast(value AS type)"], "cast"),
        (["find(<name>)"], "find"),
        (["staticmethod open(door)"], "open"),
        (["<pathspec>…"], "<pathspec>"),
        ([": (a colon)"], ":"),
        (["[ expr ]"], "[ expr ]"),
        (["${parameter:-word}"], "${parameter:-word}"),
        (["Fender", "Bumper"], "Fender, Bumper"),
        (["a", "b", "c", "d"], "a, b, c"),
        (["word " * 30], ""),
        ([""], ""),
        ([], ""),
    ],
)
def test_an_entry_is_called_by_its_terms_without_parameters(terms: list[str], name: str) -> None:
    assert name_entry(terms) == name
