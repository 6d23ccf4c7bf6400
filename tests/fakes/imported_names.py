"""What a program imports, and whether it is there."""

import ast
import importlib
from collections.abc import Iterator

OURS = frozenset(
    {"bench", "flows", "indexes", "ingest", "retrieval", "runtime", "schemas", "sitegraph", "tests"}
)


def imported_names(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """Module and name of each import; the name is empty where a module is imported whole."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield from ((node.module, alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)


def is_ours(module: str) -> bool:
    """Whether a module is of this project."""
    return module.split(".", maxsplit=1)[0] in OURS


def is_there(module: str, name: str) -> bool:
    """Whether *module* has the name, as one of its own or as a module below it.

    Raises: ModuleNotFoundError: a package that is not ours is not installed.
    """
    try:
        found = importlib.import_module(module)
        return not name or hasattr(found, name) or bool(importlib.import_module(f"{module}.{name}"))
    except ModuleNotFoundError as error:
        if not is_ours(error.name or ""):
            raise
        return False
