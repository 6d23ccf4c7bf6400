"""A row as a record without what depends on when it was observed: equal content, equal records."""

from collections.abc import Mapping
from typing import Any

from schemas.nodes import OBSERVED_FIELDS, NodeKind

_OBSERVED = (*OBSERVED_FIELDS, "state", "stale", "aliases")
_SCORES = ("score", "confidence", "structure_confidence", "ocr_conf")


def stable_record(record: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out what was observed, and round scores to 6 places; docs/reference/export.md says what stays."""
    if record.get("url") and (record.get("path") or record.get("file_path")):
        record = {**record, "url": None}  # it tells at which commit the file was read
    observed = () if record.get("kind") == NodeKind.ENTITY else _OBSERVED
    kept = {key: value for key, value in record.items() if key not in observed}
    return {
        key: round(value, 6) if key in _SCORES and isinstance(value, float) else value
        for key, value in kept.items()
    }
