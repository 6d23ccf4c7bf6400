"""The picture in docs/architecture.md, drawn from the import law: `python docs/layers.py` writes it."""

import re
import textwrap
import tomllib
from pathlib import Path

REPO = Path(__file__).resolve().parents[1]
PAGE = REPO / "docs" / "architecture.md"
_WIDTH = 110
_BEGIN, _END = "<!-- layers -->\n", "<!-- /layers -->"


def _names(layer: str) -> list[str]:
    return [name.strip() for name in re.split(r"[|:]", layer)]


def _rooms(contract: dict[str, list[str]], package: str) -> str:
    kept = [
        [name for name in _names(layer) if (REPO / package / name).is_dir()] for layer in contract["layers"]
    ]
    return " > ".join(", ".join(names) for names in kept if names)


def draw(pyproject: str) -> str:
    """Return the packages from top to bottom, each with its rooms in the order in which they may import."""
    contracts = tomllib.loads(pyproject)["tool"]["importlinter"]["contracts"]
    layered = {one["containers"][0]: one for one in contracts if one.get("containers")}
    (law,) = (one for one in contracts if one["name"] == "layers")
    lines = []
    for layer in law["layers"]:
        for package in _names(layer):
            apart = sorted(
                path.name for path in (REPO / package).iterdir() if (path / "__init__.py").is_file()
            )
            rooms = _rooms(layered[package], package) if package in layered else ", ".join(apart)
            wrapped = textwrap.wrap(rooms, _WIDTH - 12) or [""]
            lines += [
                f"{name:<12}{row}".rstrip()
                for name, row in zip([package, *[""] * len(wrapped)], wrapped, strict=False)
            ]
    return "```text\n" + "\n".join(lines) + "\n```\n"


def with_picture(page: str, picture: str) -> str:
    """Return the page with the picture between its marks."""
    head, _, rest = page.partition(_BEGIN)
    return head + _BEGIN + picture + _END + rest.partition(_END)[2]


if __name__ == "__main__":
    drawn = draw((REPO / "pyproject.toml").read_text(encoding="utf-8"))
    PAGE.write_text(with_picture(PAGE.read_text(encoding="utf-8"), drawn), encoding="utf-8")
