"""Bundles for people and for programs: text for a terminal, flat rows."""

import textwrap
from collections.abc import Iterator, Mapping
from typing import Any

from retrieval.bundle.snippets import cut_snippet
from schemas.evidence import (
    Citation,
    ContextBundle,
    Evidence,
    EvidenceVersion,
    Origin,
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
_LINES = 3
"""Lines of a passage that a list of results shows."""
_FOUND_BY = {Origin.VECTOR: "search", Origin.GRAPH: "links", Origin.BOTH: "search and links"}


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


def render_text(
    bundle: ContextBundle,
    *,
    width: int = 80,
    titles: Mapping[str, str] | None = None,
    why: bool = False,
    full: bool = False,
) -> str:
    """Return evidence as a numbered list: title and headings, address, the two or three lines that answer.

    Relations that the question asks for come first, each with its chains.
    Args: titles: of documents, by id. why: show scores, and how each passage was found. full: show whole
    texts.
    """
    if not bundle.evidence:
        return "No evidence found."
    relations = ("\n".join(_relation(one, width)) for one in bundle.relations)
    passages = []
    for one in bundle.evidence:
        text = one.text if full else _telling_lines(one.text, bundle.query, width)
        shown = wrap_text(text, width=width, indent=_INDENT)
        passages.append("\n".join((*_head(one, titles or {}, why=why), *([""] if full else []), shown)))
    return "\n\n".join((*relations, *passages))


def _telling_lines(text: str, question: str, width: int) -> str:
    """The part of *text* that fits into three lines of *width*, where most of the question's words stand."""
    room = _LINES * (width - 4 * len(_INDENT))
    return "".join(piece for piece, _ in cut_snippet(text, question, length=room))


def _relation(relation: Relation, width: int) -> Iterator[str]:
    labels = "".join(f" [{label}]" for label in relation.labels)
    yield wrap_text(show_line(f"{relation.text}{labels}"), width=width)
    for chain in relation.chains:
        yield show_line(f"{_INDENT}{chain}")


def _head(evidence: Evidence, titles: Mapping[str, str], *, why: bool) -> Iterator[str]:
    trail = evidence.heading_path or evidence.breadcrumbs
    title = titles.get(evidence.doc, "")
    if title and not (trail and trail[0].casefold() in title.casefold()):
        trail = (title, *trail)
    yield show_line(f"{label_of(evidence)} {' > '.join(trail)}".rstrip())
    yield show_line(f"{_INDENT}{cite_line(evidence, evidence.pdf)}")
    if evidence.versions is not None:
        yield show_line(f"{_INDENT}{tell_version(evidence.versions)}")
    if why:
        yield from (show_line(f"{_INDENT}{line}") for line in _reasons(evidence))


def _reasons(evidence: Evidence) -> Iterator[str]:
    parts = ", ".join(f"{name} {value:.2f}" for name, value in to_record(evidence.scores).items() if value)
    yield f"score {evidence.score:.3f} ({parts}); found by {_FOUND_BY[evidence.source]}{_dated(evidence)}"
    yield evidence.chunk_id
    yield from map(show_step, evidence.path)


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
    return f"; modified {evidence.last_modified[:10]} ({evidence.last_modified_origin})"


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
