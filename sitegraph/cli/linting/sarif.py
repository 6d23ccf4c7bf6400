"""Findings as a SARIF log, which code scanning of GitHub, GitLab and editors reads.

Source: OASIS, Static Analysis Results Interchange Format (SARIF) Version 2.1.0; what GitHub adds
is in its page "SARIF support for code scanning" (locations, relative paths, `partialFingerprints`).
"""

from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from retrieval.lint.catalogue import RULES, LintRule
from retrieval.lint.findings import LintFinding, LintPlace
from schemas.program import program_version

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
FINGERPRINT = "sitegraph/v1"
MOST = 5000
"""Results that GitHub shows of a run; the worst come first."""


def sarif_of(findings: Sequence[LintFinding], *, rules: Sequence[str]) -> dict[str, Any]:
    """Return a log of one run; *rules* are the ids of those that ran, in order."""
    numbers = {id_: number for number, id_ in enumerate(rules)}
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "sitegraph lint",
                        "version": program_version(),
                        "rules": [_rule(RULES[id_]) for id_ in rules],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "results": [_result(one, numbers[one.rule]) for one in findings[:MOST]],
            }
        ],
    }


def _rule(rule: LintRule) -> dict[str, Any]:
    return {
        "id": rule.id,
        "name": "".join(part.capitalize() for part in rule.id.split("-")),
        "shortDescription": {"text": rule.summary},
        "fullDescription": {"text": rule.summary},
        "help": {"text": rule.help_},
        "defaultConfiguration": {"level": str(rule.severity)},
        "properties": {"tags": ["documentation"]},
    }


def _result(finding: LintFinding, number: int) -> dict[str, Any]:
    first, *others = finding.places
    result: dict[str, Any] = {
        "ruleId": finding.rule,
        "ruleIndex": number,
        "level": str(finding.severity),
        "message": {"text": finding.message},
        "locations": [_location(first)],
        "partialFingerprints": {FINGERPRINT: finding.fingerprint},
    }
    if others:
        result["relatedLocations"] = [
            {"id": number, **_location(place), "message": {"text": place.text or place.address}}
            for number, place in enumerate(others, start=1)
        ]
    return result


def _location(place: LintPlace) -> dict[str, Any]:
    """Return a file by its relative path and line, anything else by its address."""
    physical: dict[str, Any] = {"artifactLocation": {"uri": _uri(place)}}
    region: dict[str, Any] = {}
    if place.path is not None:
        region["startLine"] = place.line or 1
    if place.text:
        region["snippet"] = {"text": place.text}
    if region:
        physical["region"] = region
    location: dict[str, Any] = {"physicalLocation": physical}
    names = [{"fullyQualifiedName": " > ".join(place.heading_path)}] if place.heading_path else []
    if names:
        location["logicalLocations"] = names
    return location


def _uri(place: LintPlace) -> str:
    """Return a URI reference; of a file relative to the root of the source, without the fragment."""
    return quote(place.path, safe="/") if place.path is not None else place.address
