"""What commands print with `--help`."""

import pytest

from ingest.parse.tools.documented import parse_help
from schemas.errors import ParseError

_CLICK = """Usage: shop [OPTIONS] COMMAND [ARGS]...

  Runs a shop.

Options:
  -c, --config FILE  Where --other is kept.
  --help             Show this message and exit.

Commands:
  open   Opens the doors.
  stock  Lists what there is.
"""
_ARGPARSE = """usage: restock [-h] [--dry-run] shelf

Orders what runs low.

options:
  -h, --help  show this help message and exit
  --dry-run   only say
"""
_GNU = """Usage: count [OPTION]... [FILE]...
Count what FILEs hold.
Twice.

  -l, --lines  lines
"""
_CLAP = """A till for small shops

Usage: till.exe pay [OPTIONS] <AMOUNT>

Options:
      --in-cash
"""


def test_click_lists_options_and_commands() -> None:
    shop, *commands = parse_help(_CLICK)
    assert (shop.name, shop.description) == ("shop", "Runs a shop.")
    assert shop.options == ("--config", "--help", "-c")
    assert [(tool.name, tool.description) for tool in commands] == [
        ("shop open", "Opens the doors."),
        ("shop stock", "Lists what there is."),
    ]


def test_argparse_says_what_it_is_for_behind_the_usage() -> None:
    (tool,) = parse_help(_ARGPARSE)
    assert (tool.name, tool.description) == ("restock", "Orders what runs low.")
    assert tool.options == ("--dry-run", "--help", "-h")


def test_gnu_programs_say_so_right_under_it() -> None:
    (tool,) = parse_help(_GNU)
    assert (tool.name, tool.description) == ("count", "Count what FILEs hold. Twice.")


def test_clap_says_so_before_it_and_names_the_subcommand() -> None:
    (tool,) = parse_help(_CLAP)
    assert (tool.name, tool.description) == ("till.exe pay", "A till for small shops")


@pytest.mark.parametrize(
    ("usage", "name"),
    [
        ("usage: /usr/local/bin/shop [-h]", "shop"),
        ("usage: python -m shop.till [-h]", "python -m shop.till"),
        ("Usage: git clone [<options>] [--] <repo>", "git clone"),
        ("Usage:\n  shop open [flags]", "shop open"),
        ("usage: shop {a,b} ...", "shop"),
        ("Usage: shop FILE", "shop"),
    ],
)
def test_the_name_ends_where_something_stands_for_another(usage: str, name: str) -> None:
    assert parse_help(usage)[0].name == name


@pytest.mark.parametrize("text", ["", "shop: command not found", "usage:", "usage: [OPTIONS]"])
def test_a_text_without_usage_is_refused(text: str) -> None:
    with pytest.raises(ParseError, match="usage"):
        parse_help(text)


def test_a_long_line_of_signs_is_read_in_no_time() -> None:
    assert parse_help("usage: shop " + "[" * 200_000 + "\n" + "-" * 200_000 + "\n" + " " * 200_000)
