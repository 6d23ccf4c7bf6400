"""No module of ours needs itself, by way of however many others, to be imported."""

import ast
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

REPO = Path(__file__).resolve().parents[2]
PACKAGES = ("flows", "ingest", "schemas", "indexes", "retrieval")


def test_modules_import_each_other_in_one_direction_only() -> None:
    files = {name_of(path): path for package in PACKAGES for path in (REPO / package).rglob("*.py")}
    graph = {name: set(imported(path)) & files.keys() - {name} for name, path in files.items()}
    order = tuple(TopologicalSorter(graph).static_order())
    assert len(order) == len(files) > 100


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(REPO).with_suffix("").parts).removesuffix(".__init__")


def imported(path: Path) -> Iterator[str]:
    """Modules that are imported when this one is; what only types need is not."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{one.name}" for one in node.names)
