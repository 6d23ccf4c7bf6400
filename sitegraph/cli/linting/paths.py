"""Paths of files as the reader of a report opens them: from the working directory, if below it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from retrieval.lint.findings import LintFinding, LintPlace
from schemas.source import Source


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
