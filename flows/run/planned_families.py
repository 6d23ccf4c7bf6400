"""What the plan of a generation says of versions of manuals."""

from collections.abc import Mapping
from typing import Any

from schemas.families import SourceFamily
from schemas.records import from_record


def planned_families(details: Mapping[str, Any]) -> tuple[SourceFamily, ...]:
    """Return which sources have versions of a manual, from the details that are frozen with a plan."""
    return tuple(from_record(SourceFamily, one) for one in details.get("families", ()))
