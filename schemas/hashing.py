"""Hashes of content: canonical JSON in, hexadecimal sha256 out."""

import hashlib
import json
from typing import Any


def sha256_hex(data: bytes | str) -> str:
    """Hash bytes, or text as UTF-8."""
    return hashlib.sha256(data.encode() if isinstance(data, str) else data).hexdigest()


def canonical_json(value: Any) -> str:
    """Serialise with sorted keys and no spaces, so that equal values give equal bytes."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def record_sha256(record: Any) -> str:
    """Hash a JSON-ready record by its canonical form."""
    return sha256_hex(canonical_json(record))
