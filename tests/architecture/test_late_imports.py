"""What long tests and benches import is there: they run by hand, long after a name moved.

What tests import at their top is found when they are collected.
"""

import ast
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.fakes.imported_names import imported_names, is_ours, is_there

REPO = Path(__file__).resolve().parents[2]
PEERS = "bench.peers"
"""Runs in environments of its own, with packages that are not here."""
FindImports = Callable[[ast.Module], Iterator[tuple[str, str]]]


def late_imports(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Those in functions alone."""
    functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    for function in functions:
        yield from imported_names(function)


@pytest.mark.parametrize(
    ("line", "there"),
    [
        ("from flows.recrawl import index_source", True),
        ("from flows import recrawl", True),
        ("import flows.recrawl", True),
        ("from flows.recrawl import run_page", False),
        ("from flows.recrawled import index_source", False),
        ("import flows.recrawled", False),
    ],
)
def test_a_name_that_moved_is_missed(line: str, *, there: bool) -> None:
    (found,) = late_imports(ast.parse(f"def test() -> None:\n    {line}\n"))

    assert is_there(*found) is there


@pytest.mark.parametrize(("folder", "wanted"), [("bench", imported_names), ("tests", late_imports)])
def test_what_is_imported_is_there(folder: str, wanted: FindImports) -> None:
    files = [file for file in sorted((REPO / folder).rglob("*.py")) if "peers" not in file.parts]
    found = {
        name: file
        for file in files
        for name in wanted(ast.parse(file.read_text()))
        if is_ours(name[0]) and not name[0].startswith(PEERS)
    }

    assert found
    assert {name: file for name, file in found.items() if not is_there(*name)} == {}
