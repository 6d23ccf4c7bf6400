"""One word for one thing: no two public classes have one name."""

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
    for module in sorted(path for package in PACKAGES for path in (root / package).rglob("*.py")):
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                yield node.name, f"{module.relative_to(root).as_posix()}:{node.lineno}"
