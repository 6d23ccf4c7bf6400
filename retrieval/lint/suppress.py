"""Which findings are told: rules switched off, pages left out, findings that a baseline knows."""

from collections.abc import Collection, Iterable, Mapping
from fnmatch import fnmatchcase

from retrieval.lint.findings import LintFinding
from schemas.source import LintIgnore, LintOptions


def select_findings(
    findings: Iterable[LintFinding], options: Mapping[str, LintOptions]
) -> tuple[LintFinding, ...]:
    """Return the findings that the source files, by source, do not switch off."""
    return tuple(
        one for one in findings if not _is_off(one, options.get(one.places[0].source, LintOptions()))
    )


def _is_off(finding: LintFinding, options: LintOptions) -> bool:
    if finding.rule in options.disable:
        return True
    return any(_is_ignored(finding, ignore) for ignore in options.ignore)


def _is_ignored(finding: LintFinding, ignore: LintIgnore) -> bool:
    """Whether the first place, which is the one to fix, is one that the glob means."""
    place = finding.places[0]
    names = (place.path, place.url, place.uri)
    return ignore.rule in (finding.rule, "*") and any(
        name and fnmatchcase(name, ignore.path) for name in names
    )


def split_by_baseline(
    findings: Iterable[LintFinding], known: Collection[str]
) -> tuple[tuple[LintFinding, ...], tuple[str, ...]]:
    """Return the findings that a baseline does not know, and its fingerprints that are found no more."""
    all_ = tuple(findings)
    found = {one.fingerprint for one in all_}
    return tuple(one for one in all_ if one.fingerprint not in known), tuple(sorted(set(known) - found))
