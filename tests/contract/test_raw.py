"""What the port RawStore promises, over every raw store that ships."""

import hashlib
from pathlib import Path

import pytest

from indexes.ports import RawStore
from indexes.stores.raw import FileRawStore, MemoryRawStore
from schemas.errors import StoreUnavailable

PAGE = b"<html><body>Hello</body></html>" * 100


@pytest.fixture(params=["memory", "files", "files without fsync"])
def raw(request: pytest.FixtureRequest, tmp_path: Path) -> RawStore:
    """An empty raw store."""
    if request.param == "memory":
        return MemoryRawStore()
    return FileRawStore(tmp_path / "raw", fsync=request.param == "files")


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

    with pytest.raises(StoreUnavailable, match=missing):
        raw.get(missing)
