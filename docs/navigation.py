"""The order of the pages, from mkdocs.yml; of a folder that it names, every page."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml


def read_settings(docs: Path) -> dict[str, Any]:
    """Return the settings of MkDocs with folders of the navigation (`Formats: formats/`) as their pages."""
    settings: dict[str, Any] = yaml.safe_load((docs / "mkdocs.yml").read_text(encoding="utf-8"))
    settings["nav"] = [_expanded(entry, docs) for entry in settings["nav"]]
    return settings


def nav_paths(nav: list[Any]) -> Iterator[str]:
    """Yield the pages in their order."""
    for entry in nav:
        for target in entry.values():
            if isinstance(target, str):
                yield target
            else:
                yield from nav_paths(target)


def _expanded(entry: dict[str, Any], docs: Path) -> dict[str, Any]:
    ((title, target),) = entry.items()
    if isinstance(target, list):
        return {title: [_expanded(inner, docs) for inner in target]}
    return {title: _pages(docs, docs / target) if target.endswith("/") else target}


def _pages(docs: Path, folder: Path) -> list[dict[str, str]]:
    """The pages of a folder by name, `index.md` first, each under its heading."""
    pages = sorted(folder.glob("*.md"), key=lambda page: (page.name != "index.md", page.name))
    return [{_heading(page): page.relative_to(docs).as_posix()} for page in pages]


def _heading(page: Path) -> str:
    return page.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")
