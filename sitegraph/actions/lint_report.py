"""Findings of the linter as text, JSON and SARIF, with lines of files, less those of a baseline."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

from flows.run.index import Index
from retrieval.bundle.render import show_line
from retrieval.lint.catalogue import RULES, LintRule
from retrieval.lint.site import LintFinding, LintPlace, Severity
from runtime.settings import os_error_reason
from schemas.documents import KnownDocument
from schemas.errors import ConfigError, DamageFound
from schemas.records import to_record
from schemas.redaction import to_json
from schemas.settings import program_version
from schemas.source import Source

VERSION = 1


def read_baseline(path: Path) -> frozenset[str]:
    """Return the fingerprints of a baseline.

    Raises: ConfigError: the file is not there, or is none that `--write-baseline` wrote.
    """
    try:
        written = json.loads(path.read_text("utf-8"))
        version, found = written["version"], [str(one["fingerprint"]) for one in written["findings"]]
    except OSError as error:
        told = f"cannot be read ({os_error_reason(error)}); make it with --write-baseline"
        raise ConfigError(told, subject=str(path)) from error
    except (ValueError, KeyError, TypeError) as error:
        raise ConfigError("is not a baseline; make one with --write-baseline", subject=str(path)) from error
    if version != VERSION:
        told = f"is of version {version}, not {VERSION}; make it again with --write-baseline"
        raise ConfigError(told, subject=str(path))
    return frozenset(found)


def write_baseline(path: Path, findings: Sequence[LintFinding]) -> None:
    """Write the findings to a file that people can read and compare: sorted, with what each is about."""
    from sitegraph.actions.export_records import open_target

    rows = sorted(
        (
            {
                "fingerprint": one.fingerprint,
                "rule": one.rule,
                "path": one.places[0].path or one.places[0].uri,
            }
            for one in findings
        ),
        key=lambda row: (row["rule"], row["path"], row["fingerprint"]),
    )
    with open_target(path) as out:
        out.write((to_json({"version": VERSION, "findings": rows}, indent=2) + "\n").encode())


_WORD = re.compile(r"\w+")
_FIRST = 6
"""Words of a sentence by which it is found; what follows may be marked up."""


def with_lines(findings: Sequence[LintFinding], index: Index) -> tuple[LintFinding, ...]:
    """Return findings with the line of each place in a file, where its bytes are kept and are text."""
    files = _Files(index, findings)
    return tuple(
        replace(one, places=tuple(place.at_line(files.line_of(place)) for place in one.places))
        for one in findings
    )


class _Files:
    """Texts of the files that places are in, read once."""

    def __init__(self, index: Index, findings: Sequence[LintFinding]) -> None:
        self._index = index
        wanted: dict[str, set[str]] = {}
        for place in _in_files(findings):
            wanted.setdefault(place.source, set()).add(place.uri)
        self._known: Mapping[tuple[str, str], KnownDocument] = {
            (source, uri): known
            for source, uris in wanted.items()
            for uri, known in index.ledger.documents.get(source, sorted(uris)).items()
        }
        self._texts: dict[tuple[str, str], str] = {}

    def line_of(self, place: LintPlace) -> int | None:
        """Return the line of what the place is to be sought by; 1 for a file as a whole."""
        if place.path is None or place.page_no is not None:
            return None
        text = self._text(place)
        found = (line_in(text, one) for one in place.seek)
        return next((line for line in found if line is not None), 1 if text else None)

    def _text(self, place: LintPlace) -> str:
        key = (place.source, place.uri)
        if key not in self._texts:
            self._texts[key] = self._read(self._known.get(key))
        return self._texts[key]

    def _read(self, known: KnownDocument | None) -> str:
        if known is None or not known.raw_sha:
            return ""
        try:
            return self._index.raw.get(known.raw_sha).decode("utf-8", errors="replace")
        except DamageFound:
            return ""


def _in_files(findings: Sequence[LintFinding]) -> Iterator[LintPlace]:
    return (place for one in findings for place in one.places if place.path is not None)


def line_in(text: str, sought: str) -> int | None:
    """Return the line, from 1, at which *sought* begins: as it is written, else by its first words.

    >>> line_in("<p>one\\n<p>The <b>server</b> waits\\n30 seconds.", "The server waits 30 seconds.")
    2
    """
    at = text.find(sought) if sought else -1
    words = _WORD.findall(sought)[:_FIRST]
    if at < 0 and len(words) > 2:
        between = r"(?:\W|<[^<>]*>)+"
        match = re.search(between.join(map(re.escape, words)), text)
        at = match.start() if match else -1
    return text.count("\n", 0, at) + 1 if at >= 0 else None


def from_folder(
    findings: Sequence[LintFinding], sources: Mapping[str, Source], folder: Path
) -> tuple[LintFinding, ...]:
    """Return findings with paths relative to *folder*; those of other folders stay relative to their root."""
    return tuple(
        replace(one, places=tuple(_from(place, sources.get(place.source), folder) for place in one.places))
        for one in findings
    )


def _from(place: LintPlace, source: Source | None, folder: Path) -> LintPlace:
    if place.path is None or source is None:
        return place
    files = (Path(root) / place.path for root in source.roots)
    file = next((file for file in files if file.is_file()), None)
    if file is None or not file.is_relative_to(folder):
        return place
    return replace(place, path=file.relative_to(folder).as_posix())


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


def findings_record(findings: Sequence[LintFinding], *, generation: int, known: int) -> dict[str, Any]:
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
