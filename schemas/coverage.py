"""What an index may lack, or has only as it was."""

from collections.abc import Mapping
from dataclasses import dataclass

from schemas.documents import KnownDocument


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """Documents by source: `due` wait for the next run, `set_aside` failed or are in quarantine.

    `examples` are the first of those that were set aside, each with why.
    """

    due: Mapping[str, int]
    set_aside: Mapping[str, int]
    examples: tuple[KnownDocument, ...]
