"""Sources of kind `files`: what is looked at of a folder."""

import os
from pathlib import Path
from unittest.mock import create_autospec

import pytest

from ingest.sources.files import KIND
from schemas.source import Scope, Source
from schemas.source_kinds import SourceContext


def listed(root: Path, *include: str) -> list[str]:
    source = Source(name="notes", kind="files", roots=(str(root),), scope=Scope(include=include))
    with KIND.open(source, create_autospec(SourceContext)) as opened:
        return [entry.uri for entry in opened.discover(should_stop=lambda: False).entries]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "deep").mkdir()
    for name in ("a.md", "b[1].md", "deep/c.md"):
        (tmp_path / name).write_text("# Words\n")
    return tmp_path


def test_where_the_scope_names_single_files_no_folder_is_listed(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "scandir", pytest.fail)

    assert listed(root, "a.md") == ["files://notes/a.md"]
    assert listed(root, "b[[]1].md", "deep/c.md", "gone.md") == [
        "files://notes/b%5B1%5D.md",
        "files://notes/deep/c.md",
    ]


def test_a_scope_that_means_more_lists_the_folder(root: Path) -> None:
    assert len(listed(root)) == len(listed(root, "a.md", "*c.md")) == 3


@pytest.mark.parametrize(
    ("include", "told"),
    [
        ((), ["left out: 4 files of no format that is read here (.log 2, LICENSE 1, .odt 1)"]),
        (("deep/*",), ["left out: 1 files of no format that is read here (.log 1)"]),
        (("*.md",), []),
    ],
)
def test_files_of_no_format_are_said_but_for_pictures_and_secrets(
    root: Path, include: tuple[str, ...], told: list[str]
) -> None:
    for name in ("b.log", "deep/d.log", "e.odt", "LICENSE", "f.png", "g.css", "id_key", ".env"):
        (root / name).write_bytes(b"words")
    source = Source(name="notes", kind="files", roots=(str(root),), scope=Scope(include=include))
    with KIND.open(source, create_autospec(SourceContext)) as opened:
        listing = opened.discover(should_stop=lambda: False)
    assert [problem.reason for problem in listing.problems] == told
