"""What a check found, what that means for the configuration, and the exit code of all of them; pure."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

EXIT_MISSING, EXIT_UNREACHABLE = 2, 3


class Health(StrEnum):
    """How it stands with one thing."""

    OK = "ok"
    MISSING = "missing"
    UNREACHABLE = "unreachable"
    OPTIONAL = "optional"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing: how it is, in words, and the line to type where it is not right.

    OPTIONAL is what is not there and what nothing configured needs.
    """

    subject: str
    health: Health
    told: str
    remedy: str | None = None


def found(subject: str, told: str) -> Finding:
    """Return that something is right."""
    return Finding(subject=subject, health=Health.OK, told=told)


def absent(subject: str, told: str, *, remedy: str, needed: bool) -> Finding:
    """Return that something is not there, which matters if it is needed."""
    health = Health.MISSING if needed else Health.OPTIONAL
    return Finding(subject=subject, health=health, told=told, remedy=remedy)


def exit_code_of(findings: Iterable[Finding]) -> int:
    """0 where all that is needed is there; 2 where something is missing or wrong, else 3."""
    states = {finding.health for finding in findings}
    if Health.MISSING in states:
        return EXIT_MISSING
    return EXIT_UNREACHABLE if Health.UNREACHABLE in states else 0
