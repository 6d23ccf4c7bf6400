"""What the port RawStore promises, over every raw store that ships."""

import hashlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from indexes.ports import RawStore
from indexes.stores.raw import FileRawStore, OverlayRawStore
from indexes.wiring import open_object_store
from schemas.errors import DamageFound
from tests.fakes.memory_stores import MemoryRawStore
from tests.fakes.object_storage import open_memory_objects

PAGE = b"<html><body>Hello</body></html>" * 100


@pytest.fixture(params=["memory", "files", "overlay", "objects in memory", "s3"])
def raw(request: pytest.FixtureRequest, tmp_path: Path) -> RawStore:
    """An empty raw store."""
    if request.param == "memory":
        return MemoryRawStore()
    if request.param == "objects in memory":
        return open_memory_objects()
    if request.param == "s3":
        return open_object_store(f"{request.getfixturevalue('bucket_url')}/some/prefix")
    if request.param == "overlay":
        return OverlayRawStore(MemoryRawStore(), MemoryRawStore())
    return FileRawStore(tmp_path / "raw")


@pytest.mark.parametrize("data", [b"", b"\x00", PAGE, bytes(range(256)) * 5000])
def test_bytes_come_back_by_their_sha256(raw: RawStore, data: bytes) -> None:
    sha256 = raw.put(data)

    assert sha256 == hashlib.sha256(data).hexdigest()
    assert raw.get(sha256) == data


def test_keeping_the_same_bytes_twice_gives_the_same_hash(raw: RawStore) -> None:
    assert raw.put(PAGE) == raw.put(PAGE)


def test_it_knows_what_it_keeps(raw: RawStore) -> None:
    sha256 = hashlib.sha256(PAGE).hexdigest()

    assert not raw.has(sha256)
    raw.put(PAGE)
    assert raw.has(sha256)


def test_what_is_dropped_is_gone_and_may_be_dropped_again(raw: RawStore) -> None:
    sha256, other = raw.put(PAGE), raw.put(b"another")

    raw.drop(sha256)
    raw.drop(sha256)

    assert (raw.has(sha256), raw.has(other)) == (False, True)


def test_bytes_that_are_not_there_are_named(raw: RawStore) -> None:
    missing = "ab" * 32

    with pytest.raises(DamageFound, match=f"{missing}.*is missing"):
        raw.get(missing)


def test_it_has_grown_when_something_new_was_kept(raw: RawStore) -> None:
    assert not raw.has_grown
    assert not raw.has(hashlib.sha256(PAGE).hexdigest())
    assert not raw.has_grown

    raw.put(PAGE)
    assert raw.has_grown


def test_the_hashes_of_all_it_keeps_come_in_order(raw: RawStore) -> None:
    assert list(raw.hashes()) == []
    kept = {raw.put(str(number).encode()) for number in range(20)}

    assert list(raw.hashes()) == sorted(kept)


def test_everything_but_what_is_named_is_dropped(raw: RawStore) -> None:
    assert raw.drop_all_but([]) == 0
    kept = [raw.put(str(number).encode()) for number in range(5)]

    assert raw.drop_all_but([kept[0], kept[3], "ab" * 32]) == 3
    assert list(raw.hashes()) == sorted([kept[0], kept[3]])
    assert raw.drop_all_but([]) == 2
    assert raw.drop_all_but([]) == 0
    assert list(raw.hashes()) == []


def test_threads_may_share_it(raw: RawStore) -> None:
    """Half of what each keeps the others keep too."""
    texts = [str(number).encode() for number in range(12)] * 2

    with ThreadPoolExecutor(4) as threads:
        kept = list(threads.map(raw.put, texts))
        read = list(threads.map(raw.get, kept))

    assert read == texts
    assert list(raw.hashes()) == sorted(set(kept))


def test_an_overlay_reads_what_lies_under_it_and_writes_to_none_of_it() -> None:
    under = MemoryRawStore()
    below = under.put(b"below")
    overlay = OverlayRawStore(MemoryRawStore(), under)

    above = overlay.put(b"above")
    overlay.drop(below)
    overlay.drop_all_but(())

    assert (overlay.get(below), overlay.has(below), under.has(above)) == (b"below", True, False)
    assert list(under.hashes()) == [below]
