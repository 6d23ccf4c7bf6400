"""Exports that are whole or not there."""

from pathlib import Path

import pytest

from schemas.errors import ConfigError
from sitegraph.actions.export_records import fill_folder, open_target


def break_off_file(target: Path) -> None:
    with open_target(target) as out:
        out.write(b"half")
        raise RuntimeError("midway")


def break_off_folder(target: Path) -> None:
    with fill_folder(target) as folder:
        (folder / "a").write_text("half")
        raise RuntimeError("midway")


def test_a_file_takes_its_place_only_when_it_is_whole(tmp_path: Path) -> None:
    target = tmp_path / "out.graphml"
    target.write_text("old")
    with pytest.raises(RuntimeError, match="midway"):
        break_off_file(target)
    assert target.read_text() == "old"
    with open_target(target) as out:
        out.write(b"new")
        assert target.read_text() == "old"
    assert target.read_text() == "new"
    assert list(tmp_path.iterdir()) == [target]


def test_files_of_a_folder_come_when_all_are_written_and_others_stay(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "other").write_text("mine")
    with pytest.raises(RuntimeError, match="midway"):
        break_off_folder(tmp_path / "out")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["other"]
    with fill_folder(tmp_path / "out") as folder:
        (folder / "a").write_text("1")
        (folder / "b").write_text("2")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["a", "b", "other"]


def test_without_a_path_it_is_standard_output(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    with open_target(None) as out:
        out.write(b"\xff")
    assert capsysbinary.readouterr().out == b"\xff"


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="cannot be written"), open_target(tmp_path / "no" / "such" / "f"):
        pass
    with pytest.raises(ConfigError, match="cannot be written"), open_target(tmp_path / "file" / "f"):
        pass
    with pytest.raises(ConfigError, match="file: cannot be written"), fill_folder(tmp_path / "file"):
        pass
    (tmp_path / "folder").mkdir()
    with pytest.raises(ConfigError, match="folder: cannot be written"), open_target(tmp_path / "folder"):
        pass
