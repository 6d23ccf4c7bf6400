"""Files against the sizes and hashes that they were published with."""

import errno
import os
from pathlib import Path

import pytest

from indexes.publish import files
from indexes.publish.files import FileCheck, stamp_files

FILES = {"small": b"a few bytes", "folder/large": b"many" * 1000}


@pytest.fixture
def stamps(tmp_path: Path) -> dict[str, str]:
    for name, content in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content)
    return stamp_files(tmp_path, FILES, known={})


def flip(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))


def test_what_was_published_is_whole(tmp_path: Path, stamps: dict[str, str]) -> None:
    assert FileCheck(tmp_path).damaged(stamps) == ()


def test_missing_longer_and_other_files_are_told_apart(tmp_path: Path, stamps: dict[str, str]) -> None:
    (tmp_path / "folder/large").unlink()
    flip(tmp_path / "small")
    assert FileCheck(tmp_path).damaged(stamps) == (
        ("folder/large", "is missing"),
        ("small", "is damaged: it no longer matches its hash"),
    )
    (tmp_path / "small").write_bytes(b"")
    assert FileCheck(tmp_path).damaged({"small": stamps["small"]}) == (
        ("small", "is damaged: 0 bytes instead of 11"),
    )


def test_small_files_are_hashed_first_and_no_more_is_read_than_allowed(
    tmp_path: Path, stamps: dict[str, str]
) -> None:
    for name in FILES:
        flip(tmp_path / name)
    assert [path for path, _ in FileCheck(tmp_path, 100).damaged(stamps)] == ["small"]
    assert [path for path, _ in FileCheck(tmp_path, 0).damaged(stamps)] == []
    assert [path for path, _ in FileCheck(tmp_path).damaged(stamps)] == ["folder/large", "small"]


def test_who_lives_long_reads_a_file_once_and_again_when_it_was_written_to(
    tmp_path: Path, stamps: dict[str, str]
) -> None:
    check = FileCheck(tmp_path)
    assert check.damaged(stamps) == ()
    assert len(check.seen) == len(FILES)
    flip(tmp_path / "small")
    assert [path for path, _ in check.damaged(stamps)] == ["small"]


def test_what_an_earlier_generation_took_down_is_not_read_again(
    tmp_path: Path, stamps: dict[str, str]
) -> None:
    """A file that rotted since must not be taken for sound by the next publish."""
    flip(tmp_path / "small")
    assert stamp_files(tmp_path, FILES, known=stamps) == stamps


def test_a_file_that_is_pruned_or_fails_while_it_is_read_is_damage(
    tmp_path: Path, stamps: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Readers give such a generation up for the one that is current by then."""

    def fail(path: Path) -> str:
        raise OSError(errno.EIO, os.strerror(errno.EIO), str(path))

    monkeypatch.setattr(files, "file_sha256", fail)
    assert FileCheck(tmp_path).damaged({"small": stamps["small"]}) == (
        ("small", "cannot be read (Input/output error)"),
    )
