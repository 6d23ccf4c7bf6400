"""A pack is looked through before anything is unpacked."""

import subprocess
import zlib
from io import BytesIO
from pathlib import Path

import pytest

from ingest.sources.git_remote import check_pack
from schemas.errors import FetchRefused
from tests.fakes.git_repositories import make_repository

BLOB, REF_DELTA = 3, 7


def pack_of(*objects: bytes) -> BytesIO:
    return BytesIO(b"PACK\0\0\0\2" + len(objects).to_bytes(4) + b"".join(objects) + b"\0" * 20)


def entry(kind: int, size: int, data: bytes, extra: bytes = b"") -> bytes:
    first, size = (kind << 4) | (size & 15), size >> 4
    head = bytearray()
    while size:
        head.append(first | 0x80)
        first, size = size & 0x7F, size >> 7
    return bytes([*head, first]) + extra + zlib.compress(data)


def varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


def test_a_pack_that_git_made_passes(tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "repo")
    text = "".join(f"line {n}\n" for n in range(3000))
    for n in range(20):
        repository.commit({"a.md": f"{text}{n}\n", "b.md": chr(97 + n) * 70_000})
    packed = subprocess.run(
        ["git", "-C", str(repository.root), "pack-objects", "--all", "--stdout", "--delta-base-offset"],
        input=b"", capture_output=True, check=True, timeout=300,
    ).stdout  # fmt: skip

    check_pack(BytesIO(packed), max_bytes=200_000)

    with pytest.raises(FetchRefused, match="max_mb"):
        check_pack(BytesIO(packed), max_bytes=60_000)
    with pytest.raises(FetchRefused, match="breaks off"):
        check_pack(BytesIO(packed[: len(packed) // 2]), max_bytes=200_000)
    damaged = bytearray(packed)
    damaged[len(packed) // 2] ^= 0xFF
    with pytest.raises(FetchRefused):
        check_pack(BytesIO(bytes(damaged)[: len(packed) // 2 + 40]), max_bytes=200_000)


def test_a_delta_that_would_become_huge_is_refused() -> None:
    bomb = varint(16) + varint(10**12) + b"\xff\0\0\0\0\xff\xff\xff" * 4
    with pytest.raises(FetchRefused, match="holds an object of 1000000000000 bytes"):
        check_pack(pack_of(entry(REF_DELTA, len(bomb), bomb, b"\0" * 20)), max_bytes=10**6)


def test_a_blob_that_unfolds_to_more_than_it_says_is_refused() -> None:
    with pytest.raises(FetchRefused, match="damaged"):
        check_pack(pack_of(entry(BLOB, 10, b"\0" * 10**7)), max_bytes=10**6)
    with pytest.raises(FetchRefused, match="holds an object"):
        check_pack(pack_of(entry(BLOB, 10**7, b"\0" * 10**7)), max_bytes=10**6)


def test_many_objects_that_are_large_together_are_refused() -> None:
    with pytest.raises(FetchRefused, match="ten times max_mb"):
        check_pack(pack_of(*[entry(BLOB, 10**6, b"\0" * 10**6)] * 11), max_bytes=10**6)


def test_what_is_no_pack_is_refused() -> None:
    with pytest.raises(FetchRefused, match="no pack"):
        check_pack(BytesIO(b"<html>not found</html>"), max_bytes=10)
