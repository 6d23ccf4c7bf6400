"""Bundles for people and for programs: text for a terminal, flat rows."""

import textwrap
from collections.abc import Iterator
from typing import Any

from schemas.evidence import Citation, ContextBundle, Evidence, PdfLocation
from schemas.records import Record, to_record

_ROW_FIELDS = (
    "text", "file_path", "url", "fragment", "section", "score", "source", "citation", "chunk_id", "doc",
    "doc_id", "kind", "pdf", "heading_path", "breadcrumbs", "offsets", "scores", "derivation", "role", "path",
)  # fmt: skip


def to_rows(bundle: ContextBundle) -> list[Record]:
    """Give one flat row per passage, in rank order."""
    return [_row(one) for one in bundle.evidence]


def _row(evidence: Evidence) -> Record:
    record: dict[str, Any] = {**to_record(evidence), "citation": cite_line(evidence)}
    return {name: record[name] for name in _ROW_FIELDS}


def cite_line(cited: Evidence | Citation) -> str:
    """Give one line that finds the passage: `x.pdf p. 3 [x0,y0,x1,y1]`, `url#fragment`, `path#fragment`."""
    if cited.pdf:
        return _pdf_line(cited.pdf)
    place = cited.url or cited.file_path or cited.chunk_id
    return f"{place}#{cited.fragment}" if cited.fragment else place


def _pdf_line(pdf: PdfLocation) -> str:
    box = ",".join(f"{value:g}" for value in (pdf.bbox.x0, pdf.bbox.y0, pdf.bbox.x1, pdf.bbox.y1))
    return f"{pdf.file_id} p. {pdf.page} [{box}]"


def render_text(bundle: ContextBundle, *, width: int = 80) -> str:
    """Give the evidence as numbered paragraphs with heading path, source line and wrapped text."""
    if not bundle.evidence:
        return "No evidence found."
    return "\n\n".join("\n".join(_lines(one, width)) for one in bundle.evidence)


def _lines(evidence: Evidence, width: int) -> Iterator[str]:
    trail = " > ".join(evidence.heading_path or evidence.breadcrumbs)
    yield f"[{evidence.S}] {trail}".rstrip()
    yield f"     {cite_line(evidence)}"
    yield f"     {evidence.score:.3f} {evidence.source} {evidence.chunk_id}"
    for step in evidence.path:
        yield f"     {step.src} --[{step.kind}]--> {step.dst}"
    for line in evidence.text.splitlines():
        yield from textwrap.wrap(line, width - 5, initial_indent=" " * 5, subsequent_indent=" " * 5) or [""]
