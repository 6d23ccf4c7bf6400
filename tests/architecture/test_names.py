"""One word for one thing: no two public classes have one name, and no two functions but those of a list."""

import ast
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

REPO = Path(__file__).resolve().parents[2]
PACKAGES = ("sitegraph", "runtime", "flows", "ingest", "schemas", "indexes", "retrieval")


def test_no_two_public_classes_have_one_name() -> None:
    places = places_by_class(REPO)

    assert len(places) > 300
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


VERBS = {"audiences", "check", "deploy", "maintain", "plan", "pull", "serve", "verify"}
"""Commands, each beside the stage or the work of that name which it calls."""

SHARED = VERBS | {
    "main",  # of each program
    "open_index",  # of runs, and of whoever imports sitegraph
}


def test_no_two_public_functions_have_one_name_but_those_that_say_why() -> None:
    places = defaultdict(set)
    for module in modules(REPO):
        for node in ast.parse(module.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not node.name.startswith("_"):
                places[node.name].add(module)

    assert len(places) > 2_000
    assert {name for name, found in places.items() if len(found) > 1} == SHARED


def test_a_name_of_two_classes_is_noticed(tmp_path: Path) -> None:
    for package in PACKAGES:
        (tmp_path / package).mkdir()
    (tmp_path / "ingest/one.py").write_text("class Found:\n    class Inner: ...\nclass _Own: ...\n")
    (tmp_path / "retrieval/other.py").write_text("class Found: ...\nclass _Own: ...\n")

    assert places_by_class(tmp_path) == {
        "Found": ["ingest/one.py:1", "retrieval/other.py:1"],
        "Inner": ["ingest/one.py:2"],
    }


def places_by_class(root: Path) -> Mapping[str, list[str]]:
    """Return each public class of the seven packages with the places that define it."""
    places = defaultdict(list)
    for name, place in _classes(root):
        places[name].append(place)
    return dict(places)


def _classes(root: Path) -> Iterator[tuple[str, str]]:
    for module in modules(root):
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                yield node.name, f"{module.relative_to(root).as_posix()}:{node.lineno}"


def modules(root: Path) -> list[Path]:
    """Return the modules of the seven packages."""
    return sorted(path for package in PACKAGES for path in (root / package).rglob("*.py"))
