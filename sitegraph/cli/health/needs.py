"""What a configuration needs of the machine; decided from settings, index and sources; pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from runtime.telemetry.lineage import lineage_wanted
from runtime.telemetry.tracing import tracing_wanted
from schemas.settings import Settings
from schemas.source import Source


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
        "pipeline": not has_index or settings.metrics_file is not None,
        "postgres": ledger is not None,
        "s3": raw_url is not None,
        "js": browser,
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
