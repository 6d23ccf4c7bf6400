"""What tests and benches import inside functions is there: long ones run by hand, long after a name moved."""

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parents[2]
OURS = {"bench", "flows", "indexes", "ingest", "retrieval", "runtime", "schemas", "sitegraph", "tests"}
FOLDERS = ("bench", "tests")


def late_imports(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Module and name of each import of ours in a function."""
    functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    for node in (node for function in functions for node in ast.walk(function)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in OURS:
            yield from ((node.module or "", alias.name) for alias in node.names)


def is_there(module: str, name: str) -> bool:
    """Whether *module* has it, as a name of its own or as a module below it."""
    try:
        return hasattr(importlib.import_module(module), name) or bool(
            importlib.import_module(f"{module}.{name}")
        )
    except ModuleNotFoundError:
        return False


@pytest.mark.parametrize(("name", "there"), [("index_source", True), ("recrawl", True), ("run_page", False)])
def test_a_name_that_moved_is_missed(name: str, *, there: bool) -> None:
    module = "flows" if name == "recrawl" else "flows.recrawl"
    (found,) = late_imports(ast.parse(f"def test() -> None:\n    from {module} import {name}\n"))

    assert is_there(*found) is there


@pytest.mark.parametrize("folder", FOLDERS)
def test_what_is_imported_late_is_there(folder: str) -> None:
    files = sorted((REPO / folder).rglob("*.py"))
    found = {
        (str(file.relative_to(REPO)), *wanted)
        for file in files
        for wanted in late_imports(ast.parse(file.read_text()))
    }

    assert found
    assert {wanted for wanted in found if not is_there(*wanted[1:])} == set()
