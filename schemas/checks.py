"""Questions that an index must go on answering, and what came of asking them.

The contract of the file is docs/checks.md.
"""

from dataclasses import dataclass
from enum import StrEnum

from schemas.evidence import Filter


class OnFailure(StrEnum):
    """What a run does where a question has lost its evidence."""

    HOLD = "hold"
    REPORT = "report"


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """A question, and what must come of it.

    `cites` are entries of which each must be among the first `top_k` passages, `states` what must stand in
    them. Where `answered` is False nothing may answer it. `where` is its place in the file.
    """

    id: str
    question: str
    cites: tuple[str, ...] = ()
    states: tuple[str, ...] = ()
    answered: bool = True
    top_k: int = 10
    on_failure: OnFailure = OnFailure.HOLD
    filters: tuple[Filter, ...] = ()
    where: str = ""


class Requirement(StrEnum):
    """What a check asks for."""

    CITES = "cites"
    STATES = "states"
    ANSWERED = "answered"


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownPassage:
    """What stands somewhere: the words that bear something out, where they stand, and their document."""

    text: str
    citation: str
    doc: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckFinding:
    """Whether one requirement of a check is met, by which passage, or why not.

    `wanted` is the entry, or the statement. Where a statement is not borne out, `passage` is what comes
    nearest to it.
    """

    requirement: Requirement
    wanted: str
    met: bool
    why: str = ""
    passage: ShownPassage | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What came of one check."""

    check: Check
    findings: tuple[CheckFinding, ...]

    @property
    def passed(self) -> bool:
        """Whether all that it asks for is met."""
        return all(one.met for one in self.findings)

    @property
    def failures(self) -> tuple[CheckFinding, ...]:
        """What is not met."""
        return tuple(one for one in self.findings if not one.met)


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """A requirement that was met before and is no longer, with what stood there and what stands there now."""

    check: str
    question: str
    on_failure: OnFailure
    requirement: Requirement
    wanted: str
    why: str
    before: ShownPassage | None = None
    after: ShownPassage | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckCounts:
    """How many questions were asked before publishing, answered as they must be, and lost their evidence.

    `held`: publishing was refused over it.
    """

    asked: int = 0
    passed: int = 0
    lost: int = 0
    held: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckRecord:
    """What the last run that asked found: of the staged `generation`, against its `base`."""

    source: str
    run_id: str
    generation: int
    base: int
    as_of: str
    counts: CheckCounts
    losses: tuple[Loss, ...] = ()
