"""Bytes of folders in which others write and delete."""

import shutil
import threading
from pathlib import Path

from indexes.places import file_bytes, folder_bytes


def test_the_files_of_all_folders_count_and_nothing_else(tmp_path: Path) -> None:
    assert folder_bytes(tmp_path / "none") == 0
    (tmp_path / "deep" / "down").mkdir(parents=True)
    (tmp_path / "a").write_bytes(b"x" * 3)
    (tmp_path / "deep" / "down" / "b").write_bytes(b"x" * 4)
    (tmp_path / "led nowhere").symlink_to(tmp_path / "gone")
    (tmp_path / "led to a folder").symlink_to(tmp_path / "deep")

    assert folder_bytes(tmp_path) == 7
    assert file_bytes(tmp_path / "deep") == 0


def test_files_and_folders_that_go_meanwhile_do_not_count(tmp_path: Path) -> None:
    done = threading.Event()

    def come_and_go() -> None:
        while not done.is_set():
            for number in range(20):
                (tmp_path / "f" / f"{number}").mkdir(parents=True)
                (tmp_path / "f" / f"{number}" / "x").write_bytes(b"x")
            shutil.rmtree(tmp_path / "f")

    other = threading.Thread(target=come_and_go)
    other.start()
    try:
        assert all(0 <= folder_bytes(tmp_path) <= 20 for _ in range(300))
    finally:
        done.set()
        other.join()
