"""Which copies go first, and which generations of a copy stay."""

import fcntl
import shutil
import threading
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path

import pytest

from indexes.copies.cache import HeldCopy, RemoteIndex, _follow, _hold, make_room, plan_eviction
from indexes.copies.fetching import kept_in_copy
from indexes.markers import CopyMarker, refuse_copy, write_marker
from indexes.places import cache_folder
from schemas.errors import ConfigError, DamageFound, NoRoom, StoreUnavailable
from schemas.ids import sha256_hex
from schemas.settings import Settings
from tests.fakes.folder_server import python_server


def copy(name: str, size: int, used_at: float) -> HeldCopy:
    return HeldCopy(path=Path(name), size=size, used_at=used_at)


@pytest.mark.parametrize(
    ("most", "gone"),
    [(60, []), (59, ["old"]), (50, ["old"]), (49, ["old", "middle"]), (0, ["old", "middle", "new"])],
)
def test_copies_that_were_not_read_for_longest_go_until_the_rest_fits(most: int, gone: list[str]) -> None:
    held = [copy("new", 30, 3), copy("old", 10, 1), copy("middle", 20, 2)]
    assert [one.path.name for one in plan_eviction(held, most=most)] == gone


def test_a_copy_that_is_read_stays_whatever_it_takes(tmp_path: Path) -> None:
    for name in ("read", "unread"):
        root = tmp_path / "home" / name
        root.mkdir(parents=True)
        (root / "file").write_bytes(b"x" * 100)
        write_marker(root, CopyMarker(url="s3://b/p"))
    _hold(tmp_path / "home" / "read")

    make_room(tmp_path, most=1)

    assert [path.name for path in sorted((tmp_path / "home").glob("[!.]*"))] == ["read"]


@pytest.mark.parametrize("is_there", [True, False], ids=["reachable", "unreachable"])
def test_a_copy_that_another_process_deletes_before_it_is_held_is_not_opened(
    tmp_path: Path, is_there: bool
) -> None:
    there, settings = tmp_path / "there", Settings(cache=str(tmp_path / "cache"))
    there.mkdir(exist_ok=True)
    (there / "CURRENT").write_text("1\n")
    with python_server(there) as server:
        url = server.url.rstrip("/") if is_there else "http://127.0.0.1:9"
        remote = RemoteIndex(url, settings, now=lambda: 0.0, say=print)
        copy = cache_folder(settings, "copies") / sha256_hex(url)[:32] / "id"
        write_marker(copy, CopyMarker(url=url))
        (copy / "CURRENT").write_text("1\n")
        with ThreadPoolExecutor() as pool, (copy.parent / ".id.used").open("wb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            opening = pool.submit(remote.folder)
            wait([opening], timeout=1.0)  # until it has found the copy, and waits for its lock
            assert not opening.done()
            shutil.rmtree(copy)
            fcntl.flock(lock, fcntl.LOCK_UN)
            # There is nothing else there to copy.
            with pytest.raises(DamageFound if is_there else StoreUnavailable):
                opening.result(30)


def test_a_reader_that_follows_says_once_why_its_copy_stays(tmp_path: Path) -> None:
    said: list[str] = []
    settings = Settings(index="", cache=str(tmp_path / "cache"))
    remote = RemoteIndex(str(tmp_path / "gone"), settings, now=lambda: 0.0, say=said.append)
    stop = threading.Event()
    threading.Timer(0.2, stop.set).start()

    _follow(remote, tmp_path / "copy", stop, 0.01, said.append)

    (line,) = said
    assert line.startswith("answering from the copy as it was: ")
    assert "no index there" in line


def test_a_disk_that_stays_full_is_told_once_whatever_room_is_left(tmp_path: Path) -> None:
    said: list[str] = []
    settings = Settings(index="", cache=str(tmp_path / "cache"))
    remote = RemoteIndex(str(tmp_path / "gone"), settings, now=lambda: 0.0, say=said.append)
    for free in ("566", "1,565"):
        remote.say_stays(NoRoom(f"needs 2,000 MB, but only {free} MB are free", subject="copy"))
    assert len(said) == 1
    remote.say_stays(StoreUnavailable("no index there", subject="gone"))
    assert len(said) == 2


def test_generations_stay_for_a_grace_after_they_were_replaced() -> None:
    assert kept_in_copy(5, {"3": 100.0, "4": 200.0}, now=250.0, grace_seconds=100.0) == {4, 5}
    assert kept_in_copy(5, {"4": 200.0}, now=200.0, grace_seconds=0.0) == {5}


def test_a_run_into_a_copy_is_refused_by_one_line(tmp_path: Path) -> None:
    refuse_copy(tmp_path)
    write_marker(tmp_path, CopyMarker(url="https://h/x"))
    with pytest.raises(ConfigError, match="is a copy of https://h/x and only read"):
        refuse_copy(tmp_path)
