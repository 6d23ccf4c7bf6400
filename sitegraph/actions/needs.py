"""What a configuration needs of the machine, and what a check found of it; decided from plain data."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from runtime.telemetry.delivery import lineage_wanted, tracing_wanted
from schemas.settings import Settings
from schemas.source import Source

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Needs:
    """`languages`: what Tesseract must know, by its own names; `extras`: of the package."""

    extras: frozenset[str]
    languages: tuple[str, ...] = ()
    chromium: bool = False
    neo4j: bool = False
    ledger_url: str | None = None
    raw_url: str | None = None


def needs_of(
    settings: Settings,
    sources: Iterable[Source],
    *,
    has_index: bool,
    graph: str | None = None,
    raw: str | None = None,
    environ: Mapping[str, str] | None = None,
) -> Needs:
    """Return what is needed.

    Args: sources: those of the index and of source files that were named; has_index: one is there, so that
    reading it may be all that is wanted; graph, raw: what its manifest says, None without one; environ: the
    variables of OpenTelemetry and OpenLineage.
    """
    known = tuple(sources)
    is_postgres = "postgres" in (settings.ledger_url or "").partition(":")[0]
    ledger = settings.ledger_url if is_postgres else None
    raw_url = next((url for url in (raw, settings.raw_url) if url and "://" in url), None)
    browser = any(source.javascript for source in known)
    extras = {
        # Only runs write metrics into a file.
        "light": not has_index or settings.metrics_file is not None,
        **{kind: any(source.kind == kind for source in known) for kind in ("git", "warc")},
        "postgres": ledger is not None,
        "s3": raw_url is not None,
        "js": browser,
        "sign": any((settings.request_key, settings.signing_key, settings.trust)),
        "nlp": settings.spacy is not None,
        "otel": tracing_wanted(environ or {}),
        "openlineage": lineage_wanted(environ or {}),
    }
    return Needs(
        extras=frozenset(name for name, needed in extras.items() if needed),
        languages=tuple(sorted({language for source in known for language in source.ocr})),
        chromium=browser,
        neo4j="neo4j" in (graph, settings.graph),
        ledger_url=ledger,
        raw_url=raw_url,
    )
