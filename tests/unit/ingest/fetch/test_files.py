"""Local documents: which are listed, and that nothing outside the root is read."""

import os
import subprocess
from pathlib import Path

import pytest

from ingest.fetch.files import is_denied, list_folder, read_local_file
from schemas.errors import FetchRefused
from tests.fakes.deep_folders import DEPTH, deep_folders, nest

__all__ = ["deep_folders"]

SUFFIXES = (".md", ".markdown", ".html", ".htm", ".pdf", ".txt")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    top = tmp_path / "notes"
    for name in [
        "b.md",
        "a.txt",
        "guide/Page.HTML",
        "guide/deep/old.markdown",
        "guide/paper.pdf",
        "guide/logo.png",
        ".env.md",
        ".git/description.txt",
        "keys/id_note.md",
        "ünïcode name.md",
    ]:
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    (tmp_path / "outside.md").write_text("outside")
    return top


def test_documents_are_listed_in_order_without_secrets(root: Path) -> None:
    skipped: dict[str, str] = {}
    assert list_folder(root, suffixes=SUFFIXES, on_skip=skipped.__setitem__) == (
        "a.txt",
        "b.md",
        "guide/Page.HTML",
        "guide/deep/old.markdown",
        "guide/paper.pdf",
        "ünïcode name.md",
    )
    assert skipped[".env.md"] == "its name marks a secret"


def test_of_named_files_those_are_listed_that_a_walk_comes_to_and_no_folder_is(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "linked").symlink_to(root / "guide")
    (root / "loop").symlink_to(root / "loop")
    (root / "out.md").symlink_to(root.parent / "outside.md")
    walked = list_folder(root, suffixes=SUFFIXES, on_skip=lambda *_: None)
    monkeypatch.setattr(os, "scandir", pytest.fail)
    skipped: dict[str, str] = {}
    aside = (
        *("gone.md", "./b.md", "guide//paper.pdf", "guide/../b.md", "/b.md", str(root / "b.md"), "", "guide"),
        *("linked/paper.pdf", "loop/a.md", "guide/logo.png", "../outside.md", "a\0/b.md"),
    )

    found = list_folder(
        root, suffixes=SUFFIXES, on_skip=skipped.__setitem__, named=(*walked, *aside, ".env.md", "out.md")
    )

    assert found == walked
    assert skipped == {".env.md": "its name marks a secret", "out.md": "it lies outside the root"}


@pytest.mark.parametrize(
    "path", [".env", "a/.env.local", "x.pem", "X.KEY", "id_rsa", ".git/config", "a/.GIT/b"]
)
def test_names_of_secrets_are_denied(path: str) -> None:
    assert is_denied(path)


@pytest.mark.parametrize("path", ["environment.md", "keys.md", "void_.md", "github/x.md"])
def test_ordinary_names_are_not_denied(path: str) -> None:
    assert not is_denied(path)


def test_links_out_of_the_root_are_left_out_and_said(root: Path) -> None:
    (root / "out.md").symlink_to(root.parent / "outside.md")
    (root / "folder").symlink_to(root.parent)
    (root / "inner.md").symlink_to(root / "b.md")
    (root / "secret.md").symlink_to(root / ".env.md")
    (root / "dangling.md").symlink_to(root / "nowhere.md")
    os.mkfifo(root / "pipe.md")
    skipped: dict[str, str] = {}
    listed = list_folder(root, suffixes=SUFFIXES, on_skip=skipped.__setitem__)
    assert "inner.md" in listed
    assert not any(path.startswith(("out", "folder", "secret", "dangling", "pipe")) for path in listed)
    assert "outside the root" in skipped["out.md"]
    assert skipped.keys() >= {"out.md", "secret.md", "dangling.md", "pipe.md", ".env.md"}


def test_a_file_comes_back_as_its_bytes(root: Path) -> None:
    assert read_local_file(root, "guide/Page.HTML", max_bytes=100) == b"guide/Page.HTML"


@pytest.mark.parametrize(
    "path",
    [
        "../outside.md",
        "guide/../../outside.md",
        "/etc/passwd",
        ".env.md",
        ".git/description.txt",
        "guide",
        "no.md",
    ],
)
def test_what_may_not_be_read_is_refused(root: Path, path: str) -> None:
    with pytest.raises(FetchRefused):
        read_local_file(root, path, max_bytes=100)


def test_a_pipe_is_refused_without_waiting_for_a_writer(root: Path) -> None:
    os.mkfifo(root / "pipe.md")
    with pytest.raises(FetchRefused, match="regular"):
        read_local_file(root, "pipe.md", max_bytes=100)


def test_a_file_over_the_cap_is_refused(root: Path) -> None:
    assert read_local_file(root, "b.md", max_bytes=4) == b"b.md"
    with pytest.raises(FetchRefused, match=r"exceeds the cap of 3 bytes$"):
        read_local_file(root, "b.md", max_bytes=3)
    with pytest.raises(FetchRefused, match=r"3 bytes \(limits.page_mb in the source file\)"):
        read_local_file(root, "b.md", max_bytes=3, key="limits.page_mb")


def test_a_root_that_is_no_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FetchRefused, match="roots"):
        list_folder(tmp_path / "nowhere", suffixes=SUFFIXES, on_skip=lambda _path, _reason: None)


def test_links_that_lead_in_a_circle_are_left_out_with_a_reason(root: Path) -> None:
    """Loops of one and of two links, and a folder that holds itself."""
    (root / "self.md").symlink_to("self.md")
    (root / "to.md").symlink_to("fro.md")
    (root / "fro.md").symlink_to("to.md")
    (root / "guide" / "up").symlink_to("..", target_is_directory=True)
    skipped: dict[str, str] = {}

    listed = list_folder(root, suffixes=SUFFIXES, on_skip=skipped.__setitem__)

    assert "b.md" in listed
    assert not [path for path in listed if "up" in path]
    for name in ("self.md", "to.md", "fro.md"):
        assert skipped[name] == "it is a link that leads back to itself"
        with pytest.raises(FetchRefused, match="leads back to itself"):
            read_local_file(root, name, max_bytes=100)


def test_folders_nested_deeper_than_python_calls_are_walked(deep_folders: Path) -> None:
    (deep,) = list_folder(
        deep_folders, suffixes=SUFFIXES, on_skip=lambda path, why: pytest.fail(f"{path}: {why}")
    )

    assert deep.count("/") == DEPTH
    assert read_local_file(deep_folders, deep, max_bytes=100) == b"# Deep\n"


def test_a_path_longer_than_the_system_takes_is_left_out_with_a_reason(root: Path) -> None:
    nest(root, 3000)
    skipped: dict[str, str] = {}

    listed = list_folder(root, suffixes=SUFFIXES, on_skip=skipped.__setitem__)

    subprocess.run(["rm", "-rf", str(root / "d")], check=True)
    assert "b.md" in listed
    assert "the folder cannot be read (File name too long)" in skipped.values()
