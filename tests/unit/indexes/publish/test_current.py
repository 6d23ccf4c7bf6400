"""`CURRENT` is whole or as it was, and says what to do when it is neither."""

import os
from pathlib import Path

import pytest

from indexes.places import write_durably
from indexes.publish.current import read_current, write_current
from schemas.errors import ConfigError, DamageFound


def test_what_is_written_is_read(tmp_path: Path) -> None:
    for number in (0, 7, 12345):
        write_current(tmp_path, number)
        assert read_current(tmp_path) == number


def test_nothing_is_left_beside_it(tmp_path: Path) -> None:
    write_current(tmp_path, 1)
    assert os.listdir(tmp_path) == ["CURRENT"]


def test_a_reader_that_holds_the_old_file_open_still_reads_the_old_number(tmp_path: Path) -> None:
    write_current(tmp_path, 1)
    with (tmp_path / "CURRENT").open() as reader:
        write_current(tmp_path, 2)
        assert reader.read() == "1\n"
    assert read_current(tmp_path) == 2


def test_a_half_written_new_number_changes_nothing(tmp_path: Path) -> None:
    write_current(tmp_path, 1)
    (tmp_path / ".CURRENT.new").write_text("")
    assert read_current(tmp_path) == 1
    write_current(tmp_path, 2)
    assert read_current(tmp_path) == 2


@pytest.mark.parametrize("place", ["", "missing", "file/inside"])
def test_a_folder_that_is_no_index_says_how_to_make_one(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="make one with: sitegraph run"):
        read_current(tmp_path / place)


@pytest.mark.parametrize("content", [b"", b"seven\n", b"\xff\xfe", b"1 2", b"-1"])
def test_a_file_that_holds_no_number_is_damage_with_a_way_out(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "CURRENT").write_bytes(content)
    with pytest.raises(DamageFound, match="is damaged; repair it with: sitegraph repair"):
        read_current(tmp_path)


def test_a_folder_on_the_way_is_made(tmp_path: Path) -> None:
    write_durably(tmp_path / "a" / "b" / "c.json", "é\n")
    assert (tmp_path / "a" / "b" / "c.json").read_text("utf-8") == "é\n"
