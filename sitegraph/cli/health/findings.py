"""What a check found, what that means for the configuration, and the exit code of all of them; pure."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

EXIT_MISSING, EXIT_UNREACHABLE = 2, 3


class CheckState(StrEnum):
    """How it stands with one thing."""

    OK = "ok"
    MISSING = "missing"
    UNREACHABLE = "unreachable"
    OPTIONAL = "optional"


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """One thing: how it is, in words, and the line to type where it is not right.

    OPTIONAL is what is not there and what nothing configured needs.
    """

    subject: str
    health: CheckState
    told: str
    remedy: str | None = None


def found(subject: str, told: str) -> CheckResult:
    """Return that something is right."""
    return CheckResult(subject=subject, health=CheckState.OK, told=told)


def absent(subject: str, told: str, *, remedy: str, needed: bool) -> CheckResult:
    """Return that something is not there, which matters if it is needed."""
    health = CheckState.MISSING if needed else CheckState.OPTIONAL
    return CheckResult(subject=subject, health=health, told=told, remedy=remedy)


def unreachable(subject: str, told: str, *, remedy: str) -> CheckResult:
    """Return that a server which is needed does not answer."""
    return CheckResult(subject=subject, health=CheckState.UNREACHABLE, told=told, remedy=remedy)


def exit_code_of(findings: Iterable[CheckResult]) -> int:
    """0 where all that is needed is there; 2 where something is missing or wrong, else 3."""
    states = {finding.health for finding in findings}
    if CheckState.MISSING in states:
        return EXIT_MISSING
    return EXIT_UNREACHABLE if CheckState.UNREACHABLE in states else 0
