"""What was searched in vain, what came near, and what could hide the answer (docs/asking.md)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from schemas.coverage import Coverage
from schemas.evidence import Filter


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchedSource:
    """A source that was searched, and how much of it there is in the generation."""

    documents: int
    chunks: int


class Measured(StrEnum):
    """What a near miss is measured by."""

    LOGIT = "logit"
    SCORE = "score"


@dataclass(frozen=True, slots=True, kw_only=True)
class NearMiss:
    """A passage that came near; `value` is what it has of what was measured.

    `outside`: it was found once the filters were left out.
    """

    chunk_id: str
    citation: str
    heading: str
    measured: Measured
    value: float
    outside: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Absence:
    """A question that nothing answers.

    `unknown` are its words that stand nowhere in the index, and `spelled` those of the index that are spelled
    like some of them, most like first. `needed` is the logit from which on a passage counts as an answer,
    None where none was asked for. `hidden` is what the ledger says, None where it cannot be read, as in a
    copy.
    """

    generation: int
    as_of: str
    searched: Mapping[str, SearchedSource] = field(default_factory=dict)
    filters: tuple[Filter, ...] = ()
    unknown: tuple[str, ...] = ()
    spelled: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    near: tuple[NearMiss, ...] = ()
    needed: float | None = None
    degraded: tuple[str, ...] = ()
    hidden: Coverage | None = None
