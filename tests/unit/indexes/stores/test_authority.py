"""Files of authority: whole or not there, and a damaged one is like none."""

from pathlib import Path

import pytest

from indexes.stores.authority import FileAuthorityStore


@pytest.mark.parametrize("damage", [b"", b"ARROW1 and no more", b"\0" * 4096])
def test_a_damaged_file_is_like_a_missing_one(tmp_path: Path, damage: bytes) -> None:
    store = FileAuthorityStore(tmp_path)
    store.put(1, {"page:a": 1.0})
    (tmp_path / "1.arrow").write_bytes(damage)
    assert store.at(1).of(["page:a"]) == {}
    store.put(1, {"page:a": 1.0})
    assert store.at(1).of(["page:a"]) == {"page:a": 1.0}


def test_a_cut_file_is_like_a_missing_one(tmp_path: Path) -> None:
    store = FileAuthorityStore(tmp_path)
    store.put(1, {f"page:{n}": 0.5 for n in range(100)})
    whole = (tmp_path / "1.arrow").read_bytes()
    (tmp_path / "1.arrow").write_bytes(whole[: len(whole) // 2])
    assert store.at(1).of(["page:1"]) == {}


def test_what_a_crash_left_goes_with_the_next_pruning(tmp_path: Path) -> None:
    store = FileAuthorityStore(tmp_path)
    store.put(1, {"page:a": 1.0})
    (tmp_path / "2.part").write_bytes(b"half")
    store.prune(keep=[1])
    assert [path.name for path in tmp_path.iterdir()] == ["1.arrow"]
