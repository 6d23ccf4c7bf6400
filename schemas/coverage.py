"""What an index may lack, or has only as it was."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from schemas.documents import KnownDocument


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """Documents by source: `due` wait for the next run, `set_aside` failed or are in quarantine.

    `examples` are the first of those that were set aside, each with why. `left_out` counts by source and
    reason those that belong to nobody's reading: out of scope, forbidden by robots.txt, of a format that is
    not read, not found, or beyond a cap.
    """

    due: Mapping[str, int]
    set_aside: Mapping[str, int]
    examples: tuple[KnownDocument, ...]
    left_out: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
