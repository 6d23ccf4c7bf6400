"""Findings as text for people and as one JSON object."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from retrieval.bundle.render import show_line
from retrieval.lint.findings import LintFinding, LintPlace, Severity
from schemas.records import to_record

QUOTED = 200
"""Characters of a sentence that are shown."""


def text_of(findings: Sequence[LintFinding]) -> str:
    """Return findings as lines: place, severity, rule and message, with the sentences below."""
    return "\n".join(show_line(line) for one in findings for line in _lines(one))


def _lines(finding: LintFinding) -> Iterator[str]:
    first = finding.places[0]
    yield f"{_where(first)}: {finding.severity}: {finding.message} [{finding.rule}]"
    for place in finding.places:
        path = " > ".join(place.heading_path)
        if place is not first:
            yield f"    {_where(place)}"
        if path or place.text:
            yield f"      {path}{': ' if path and place.text else ''}{_quoted(place.text)}"


def _where(place: LintPlace) -> str:
    """Return the place as editors open it where it has a line, else its address."""
    if place.path and place.line:
        return f"{place.path}:{place.line}"
    return place.address


def _quoted(text: str) -> str:
    folded = " ".join(text.split())
    shown = folded if len(folded) <= QUOTED else folded[:QUOTED].rsplit(" ", 1)[0] + " ..."
    return f'"{shown}"' if shown else ""


def summary_of(findings: Sequence[LintFinding], *, known: int) -> str:
    """Return how many findings there are, by severity, worst first."""
    counts = Counter(one.severity for one in findings)
    parts = [
        f"{counts[one]} {one}{'s' if counts[one] != 1 else ''}" for one in reversed(Severity) if counts[one]
    ]
    baseline = f"; {known} of the baseline not shown" if known else ""
    return (", ".join(parts) or "no findings") + baseline


def record_of(findings: Sequence[LintFinding], *, generation: int, known: int) -> dict[str, Any]:
    """Return findings as a JSON object."""
    return {
        "generation": generation,
        "findings": [_record(one) for one in findings],
        "counts": {str(one): sum(each.severity is one for each in findings) for one in Severity},
        "in_baseline": known,
    }


def _record(finding: LintFinding) -> dict[str, Any]:
    places = [
        {"address": place.address, **{key: value for key, value in to_record(place).items() if key != "seek"}}
        for place in finding.places
    ]
    return {
        "rule": finding.rule,
        "severity": str(finding.severity),
        "message": finding.message,
        "fingerprint": finding.fingerprint,
        "places": places,
        "more": finding.more,
    }
