"""How bytes are kept under their hash, on disk or in object storage: packed with zstd, and where."""

from schemas.errors import DamageFound
from schemas.hashing import sha256_hex

_ZSTD_LEVEL = 3

SUFFIX = ".zst"


def place_of(sha256: str) -> str:
    """Return the path below the store's root: `ab/cd/<sha256>.zst`."""
    return f"{sha256[:2]}/{sha256[2:4]}/{sha256}{SUFFIX}"


def pack(data: bytes) -> bytes:
    """Compress."""
    from zstandard import ZstdCompressor

    return ZstdCompressor(level=_ZSTD_LEVEL).compress(data)


def unpack(packed: bytes, sha256: str, *, subject: str) -> bytes:
    """Decompress what `pack` made. Raises: DamageFound: it is not, or not the bytes of that hash."""
    from zstandard import ZstdDecompressor, ZstdError

    try:
        data = ZstdDecompressor().decompress(packed)
    except ZstdError as error:
        raise _damaged(subject) from error
    if sha256_hex(data) != sha256:
        raise _damaged(subject)
    return data


def missing(subject: str) -> DamageFound:
    """Say that bytes are not there."""
    return DamageFound("is missing; the next run of its source restores it", subject=subject)


def _damaged(subject: str) -> DamageFound:
    return DamageFound("no longer matches its hash; the next run of its source restores it", subject=subject)
