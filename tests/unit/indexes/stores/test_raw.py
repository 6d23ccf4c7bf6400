"""What only files can get wrong."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from indexes.stores.raw import FileRawStore
from schemas.errors import DamageFound, StoreUnavailable

PAGE = b"<html><body>Hello</body></html>" * 100


def _only_file(root: Path) -> Path:
    (path,) = (path for path in root.rglob("*") if path.is_file())
    return path


def test_a_file_lies_under_the_first_four_digits_of_its_hash(tmp_path: Path) -> None:
    sha256 = FileRawStore(tmp_path).put(PAGE)

    path = _only_file(tmp_path)
    assert path.relative_to(tmp_path).as_posix() == f"{sha256[:2]}/{sha256[2:4]}/{sha256}.zst"
    assert path.stat().st_size < len(PAGE) / 10


def test_keeping_the_same_bytes_twice_writes_once(tmp_path: Path) -> None:
    store = FileRawStore(tmp_path)
    store.put(PAGE)
    before = _only_file(tmp_path).stat()

    store.put(PAGE)

    after = _only_file(tmp_path).stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_a_store_knows_whether_it_has_grown(tmp_path: Path) -> None:
    first = FileRawStore(tmp_path)
    assert not first.has_grown
    first.put(PAGE)
    again = FileRawStore(tmp_path)
    again.put(PAGE)

    assert (first.has_grown, again.has_grown) == (True, False)


@pytest.mark.parametrize("place", [0, 10, -1])
def test_a_flipped_bit_is_found_on_reading(tmp_path: Path, place: int) -> None:
    store = FileRawStore(tmp_path)
    sha256 = store.put(PAGE)
    path = _only_file(tmp_path)
    damaged = bytearray(path.read_bytes())
    damaged[place] ^= 0x40
    path.write_bytes(damaged)

    with pytest.raises(DamageFound, match=sha256):
        store.get(sha256)
    assert not store.has(sha256)

    assert store.put(PAGE) == sha256
    assert store.has(sha256)
    assert store.get(sha256) == PAGE


def test_a_truncated_file_is_found_on_reading(tmp_path: Path) -> None:
    store = FileRawStore(tmp_path)
    sha256 = store.put(os.urandom(10_000))
    path = _only_file(tmp_path)
    os.truncate(path, 5_000)
    assert not store.has(sha256)

    with pytest.raises(DamageFound, match="next run of its source"):
        store.get(sha256)


def test_the_bytes_of_another_hash_are_damage(tmp_path: Path) -> None:
    store = FileRawStore(tmp_path)
    sha256, other = store.put(PAGE), store.put(b"other")
    path = tmp_path / sha256[:2] / sha256[2:4] / f"{sha256}.zst"
    path.write_bytes((tmp_path / other[:2] / other[2:4] / f"{other}.zst").read_bytes())

    with pytest.raises(DamageFound):
        store.get(sha256)
    assert not store.has(sha256)


def test_a_full_disk_leaves_neither_the_file_nor_a_part_of_it(tmp_path: Path) -> None:
    script = """
import os, resource, sys
from pathlib import Path
from indexes.stores.raw import FileRawStore
import signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    FileRawStore(Path(sys.argv[1])).put(os.urandom(5000))
except OSError as error:
    print(error.strerror)
"""
    ran = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, check=True
    )

    assert ran.stdout.strip() == "File too large"
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_a_folder_that_is_not_reachable_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / "ab").write_text("a file where a folder should be")

    with pytest.raises(StoreUnavailable):
        FileRawStore(tmp_path).get("ab" * 32)


def test_everything_but_what_is_named_is_dropped_with_the_leftovers_of_a_crash(tmp_path: Path) -> None:
    store = FileRawStore(tmp_path / "outbox")
    assert store.drop_all_but([]) == 0
    kept, gone = store.put(b"kept"), store.put(b"gone")
    leftover = next((tmp_path / "outbox").glob("??/??/*")).with_name("half.zst.1.2.part")
    leftover.write_bytes(b"half")

    assert store.drop_all_but([kept, "ab" * 32]) == 2
    assert (store.has(kept), store.has(gone), leftover.exists()) == (True, False, False)
