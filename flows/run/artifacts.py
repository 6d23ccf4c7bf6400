"""What Prefect shows of a run beside its log: reports, what changed, what failed."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from prefect.artifacts import create_markdown_artifact, create_table_artifact

from schemas.changes import DocumentChange
from schemas.records import to_record
from schemas.redaction import one_line
from schemas.report import Problem, RunReport

MAX_ROWS = 500
"""Table artifacts are shown by a browser; longer ones are cut and say so."""


def publish_artifacts(report: RunReport, changes: Sequence[DocumentChange]) -> None:
    """Show the report to whoever watches the flow run."""
    key = artifact_key(report.source)
    create_markdown_artifact(markdown=_markdown(report), key=key, description="What the run did")
    if changes:
        changed = [{"url": c.uri, "change": c.kind.value, "reason": c.reason} for c in changes]
        create_table_artifact(table=_cut(changed), key=f"{key}-changed", description="What changed and why")
    show_problems(report.source, report.problems)


def show_problems(source: str, problems: Sequence[Problem]) -> None:
    """Show which documents could not be used; nothing where there is none."""
    if problems:
        rows = [to_record(problem) for problem in problems]
        key = f"{artifact_key(source)}-problems"
        create_table_artifact(table=_cut(rows), key=key, description="What failed and why")


def artifact_key(source: str) -> str:
    """The key under which Prefect keeps the reports of a source: lower-case letters, digits, dashes."""
    return f"sitegraph-{re.sub(r'[^a-z0-9]', '-', source.lower())}"


def _markdown(report: RunReport) -> str:
    documents = "\n".join(f"| {name} | {number} |" for name, number in report.documents.items() if number)
    stages = "\n".join(f"| {name} | {seconds:.1f} |" for name, seconds in report.stages.items())
    verdict = f"generation {report.generation}" if report.generation else "nothing changed, no generation"
    chunks, pages = report.chunks, report.pdf_pages
    return (
        f"# {report.source}: {verdict}\n\n"
        f"Chunks: {chunks.added} added, {chunks.removed} removed, {chunks.unchanged} unchanged; "
        f"{chunks.embedded} texts embedded. HTTP: {report.http.requests} requests, "
        f"{report.http.bytes} bytes. Secrets redacted: {report.secrets.values} in "
        f"{report.secrets.documents} documents. Pages of PDFs: {pages.read} read, {pages.recognised} of them "
        f"recognised, {pages.reused} reused.\n\n"
        f"| documents | |\n|---|---|\n{documents}\n\n| stage | seconds |\n|---|---|\n{stages}\n"
    )


def _cut(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    table = [
        {key: one_line(value) if isinstance(value, str) else value for key, value in row.items()}
        for row in rows[:MAX_ROWS]
    ]
    if len(rows) > MAX_ROWS:
        first = next(iter(table[0]))
        table.append({**dict.fromkeys(table[0], ""), first: f"… and {len(rows) - MAX_ROWS} more"})
    return table
