"""What long tests and benches import is there: they run by hand, long after a name moved.

What tests import at their top is found when they are collected.
"""

import ast
import importlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parents[2]
OURS = {"bench", "flows", "indexes", "ingest", "retrieval", "runtime", "schemas", "sitegraph", "tests"}
FindImports = Callable[[ast.Module], Iterator[tuple[str, str]]]
PEERS = "bench.peers"
"""Runs in environments of its own, with packages that are not here."""


def late_imports(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Module and name of each import of ours in a function."""
    functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    for function in functions:
        yield from imports(function)


def imports(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """Module and name of each import of ours; the name is empty where a module is imported whole."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and _is_ours(node.module or ""):
            yield from ((node.module or "", alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names if _is_ours(alias.name))


def is_there(module: str, name: str) -> bool:
    """Whether *module* has it, as a name of its own or as a module below it."""
    try:
        return hasattr(importlib.import_module(module), name or "__name__") or bool(
            importlib.import_module(f"{module}.{name}")
        )
    except ModuleNotFoundError as error:
        if not _is_ours(error.name or ""):
            raise
        return False


def _is_ours(module: str) -> bool:
    return module.split(".", maxsplit=1)[0] in OURS and not module.startswith(PEERS)


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


@pytest.mark.parametrize(("folder", "wanted"), [("bench", imports), ("tests", late_imports)])
def test_what_is_imported_is_there(folder: str, wanted: FindImports) -> None:
    files = [file for file in sorted((REPO / folder).rglob("*.py")) if "peers" not in file.parts]
    found = {name: file for file in files for name in wanted(ast.parse(file.read_text()))}

    assert found
    assert {name: file for name, file in found.items() if not is_there(*name)} == {}
