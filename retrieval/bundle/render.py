"""Bundles for people and for programs: text for a terminal, flat rows."""

import textwrap
from collections.abc import Iterator
from typing import Any

from schemas.evidence import (
    Citation,
    ContextBundle,
    Evidence,
    EvidenceVersion,
    PathStep,
    PdfLocation,
    Relation,
)
from schemas.nodes import Chunk
from schemas.records import Record, to_record
from schemas.unseen import replace_unseen

_ROW_FIELDS = (
    *("text", "file_path", "url", "fragment", "text_fragment", "section", "score", "source", "citation"),
    *("chunk_id", "doc"),
    *(
        "doc_id",
        "kind",
        "pdf",
        "heading_path",
        "breadcrumbs",
        "offsets",
        "scores",
        "derivation",
        "role",
        "path",
        "last_modified",
        "last_modified_origin",
        "versions",
    ),
)
_INDENT = "     "


def to_rows(bundle: ContextBundle) -> list[Record]:
    """Return one flat row per passage, in rank order."""
    return [_row(one) for one in bundle.evidence]


def _row(evidence: Evidence) -> Record:
    record: dict[str, Any] = {**to_record(evidence), "citation": cite_line(evidence, evidence.pdf)}
    return {name: record[name] for name in _ROW_FIELDS}


def label_of(evidence: Evidence) -> str:
    """Return what stands before a passage, `[S3]`, or what the graph says, `[4: Knowledge Graph - Redis]`.

    Names come from crawled pages: brackets and line ends in one cannot end the label.
    """
    if evidence.entity is None:
        return f"[{evidence.S}]"
    name = " ".join(evidence.entity.split()).replace("[", "(").replace("]", ")")
    return f"[{evidence.S.removeprefix('S')}: Knowledge Graph - {name}]"


def cite_line(cited: Evidence | Citation | Chunk, pdf: PdfLocation | None) -> str:
    """Return one line that finds the passage: `x.pdf p. 3 [x0,y0,x1,y1]`, `url#fragment`, `path#fragment`.

    Where no id stands at the passage, it ends with words by which browsers find it: `url#:~:text=...`.
    """
    if pdf:
        box = ",".join(f"{value:.1f}" for value in (pdf.bbox.x0, pdf.bbox.y0, pdf.bbox.x1, pdf.bbox.y1))
        return f"{pdf.file_id} p. {pdf.page} [{box}]"
    place = cited.url or cited.file_path or ""
    opens_at = f"{cited.fragment or ''}{cited.text_fragment or ''}"
    return f"{place}#{opens_at}" if opens_at else place


def render_text(bundle: ContextBundle, *, width: int = 80) -> str:
    """Return evidence as numbered paragraphs: heading path, source line, how it was found, wrapped text.

    Relations that the question asks for come first, each with its chains.
    """
    if not bundle.evidence:
        return "No evidence found."
    relations = ("\n".join(_relation(one, width)) for one in bundle.relations)
    return "\n\n".join((*relations, *("\n".join(_lines(one, width)) for one in bundle.evidence)))


def _relation(relation: Relation, width: int) -> Iterator[str]:
    labels = "".join(f" [{label}]" for label in relation.labels)
    yield wrap_text(show_line(f"{relation.text}{labels}"), width=width)
    for chain in relation.chains:
        yield show_line(f"{_INDENT}{chain}")


def _lines(evidence: Evidence, width: int) -> Iterator[str]:
    trail = " > ".join(evidence.heading_path or evidence.breadcrumbs)
    yield show_line(f"{label_of(evidence)} {trail}".rstrip())
    yield show_line(f"{_INDENT}{cite_line(evidence, evidence.pdf)}")
    yield f"{_INDENT}{evidence.score:.3f}  {evidence.source}  {evidence.chunk_id}{_dated(evidence)}"
    if evidence.versions is not None:
        yield show_line(f"{_INDENT}{tell_version(evidence.versions)}")
    for step in evidence.path:
        yield show_line(f"{_INDENT}{show_step(step)}")
    yield ""
    yield wrap_text(evidence.text, width=width, indent=_INDENT)


def tell_version(of: EvidenceVersion) -> str:
    """Return it as words for people: `postgresql 15 (not in 17; also in 14)`."""
    more = [
        f"{what} {', '.join(versions)}"
        for what, versions in (("not in", of.not_in), ("also in", of.also_in))
        if versions
    ]
    return f"{of.family} {of.version}" + (f" ({'; '.join(more)})" if more else "")


def show_step(step: PathStep) -> str:
    """Return `GOV-0099 --[depends_on]--> PRD-0008`; by ids where it is not known what they are called."""
    return f"{step.src_name or step.src} --[{step.kind}]--> {step.dst_name or step.dst}"


def _dated(evidence: Evidence) -> str:
    if evidence.last_modified is None:
        return ""
    return f"  modified {evidence.last_modified[:10]} ({evidence.last_modified_origin})"


def show_line(text: str) -> str:
    """Return a title, trail or citation on one line; what nobody sees is shown as U+FFFD."""
    return replace_unseen(" ".join(text.splitlines()))


def wrap_text(text: str, *, width: int, indent: str = "") -> str:
    """Wrap long lines at words; the line breaks of the text stay, since tables and code need them.

    What nobody sees is shown as U+FFFD.
    """
    return "\n".join(
        textwrap.fill(line, width, initial_indent=indent, subsequent_indent=indent, replace_whitespace=False)
        for line in replace_unseen(text).splitlines()
    )
