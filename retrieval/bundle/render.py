"""Bundles and passages for people and for programs: text for a terminal, flat rows, marked words."""

import re
import textwrap
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from indexes.ports import ChunkReader, GraphReader
from retrieval.question.ids import resolve_node_id
from retrieval.question.words import content_words
from schemas.errors import ConfigError
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
from schemas.nodes import Chunk, NodeKind, PdfRegion, Section
from schemas.records import Record, to_record
from schemas.text import replace_unseen
from schemas.uses import tell_uses

LENGTH = 320
"""Characters of a snippet: some three lines on a wide screen."""

LINES = 6
"""Of a passage whose lines are short."""

QUESTION_WORDS = 32
"""Different words of a question that are looked for; a pasted page has hundreds, and they say no more."""

Piece = tuple[str, bool]
"""Text, and whether it is marked."""

_WORD = re.compile(r"\w+")
_STEM, _ENDING = 4, 3

_Hit = tuple[int, tuple[str, ...]]
"""Where a word of a text begins, and the words of the question that it is a form of."""


def cut_snippet(text: str, question: str, *, length: int = LENGTH) -> tuple[Piece, ...]:
    """Return at most *length* characters, and `LINES` lines, around where most of the question's words stand.

    Lines stay lines: a list, options and code would be glued to a sentence that nobody wrote.
    """
    lines = (" ".join(line.split()) for line in text.splitlines())
    kept = "\n".join(line for line in lines if line)
    flat = kept.replace("\n", " ")
    words = tuple(dict.fromkeys(content_words(question)))[:QUESTION_WORDS]
    start = _best_start(flat, words, length)
    end = len(flat) if len(flat) <= start + length else flat.rfind(" ", start, start + length)
    end = end if end > start else start + length
    breaks = [start + at for at, letter in enumerate(kept[start:end]) if letter == "\n"]
    end = breaks[LINES - 1] if len(breaks) >= LINES else end
    pieces = mark_words(kept[start:end], words)
    before: tuple[Piece, ...] = (("… ", False),) if start else ()
    return (*before, *pieces, *((" …", False),)) if end < len(flat) else (*before, *pieces)


def mark_words(text: str, words: Collection[str]) -> tuple[Piece, ...]:
    """Divide *text* into what is of these folded words, inflected too, and what is not."""
    found = _matches(text, words)
    pieces: list[Piece] = []
    at = 0
    for match in _WORD.finditer(text):
        if found[match[0].casefold()]:
            pieces += [(text[at : match.start()], False), (match[0], True)]
            at = match.end()
    pieces.append((text[at:], False))
    return tuple(piece for piece in pieces if piece[0])


def mark_quote(text: str, quote: str) -> tuple[Piece, ...]:
    """Divide *text* into the words of *quote*, in order and whatever the white space, and what is around."""
    parts = quote.split()
    found = re.search(r"\s+".join(map(re.escape, parts)), text) if parts else None
    if found is None:
        return ((text, False),)
    pieces = (text[: found.start()], False), (found[0], True), (text[found.end() :], False)
    return tuple(piece for piece in pieces if piece[0])


def _best_start(text: str, words: Collection[str], length: int) -> int:
    """Where the stretch begins that has most different words, the earliest of these."""
    if len(text) <= length:
        return 0
    found = _matches(text, words)
    hits = [(match.start(), found[match[0].casefold()]) for match in _WORD.finditer(text)]
    best = _fullest([hit for hit in hits if hit[1]], length * 3 // 4)
    if best < length // 2:
        return 0
    lead = best - length // 5
    return text.find(" ", lead, best) + 1 or best


def _fullest(hits: Sequence[_Hit], reach: int) -> int:
    """Where the stretch of *reach* characters begins that has most different words, the earliest of these."""
    best, most, end = 0, 0, 0
    inside: Counter[str] = Counter()
    for place, words in hits:
        while end < len(hits) and hits[end][0] < place + reach:
            inside.update(hits[end][1])
            end += 1
        if len(inside) > most:
            best, most = place, len(inside)
        inside -= Counter(words)
    return best


def _matches(text: str, words: Collection[str]) -> dict[str, tuple[str, ...]]:
    """Which of these words each different word of *text* is a form of, by the folded word."""
    tokens = {token.casefold() for token in _WORD.findall(text)}
    return {token: tuple(word for word in words if _is_form(token, word)) for token in tokens}


def _is_form(token: str, word: str) -> bool:
    """Whether two words differ by an ending at most: `lease`, `leases`."""
    short, long = (token, word) if len(token) < len(word) else (word, token)
    return short == long or (
        len(short) >= _STEM and long.startswith(short) and len(long) - len(short) <= _ENDING
    )


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
    ),
    *("last_modified", "last_modified_origin", "versions", "uses"),
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
    if evidence.uses:
        yield show_line(f"{_INDENT}{tell_uses(evidence.uses)}")
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


OPEN_MARK, CLOSE_MARK = "»", "«"


def document_names(chunk: Chunk) -> tuple[str, ...]:
    """Return all by which people mean the document of a chunk: id, own id, address, path, file name."""
    path = chunk.file_path or ""
    names = (chunk.doc, chunk.doc_id, chunk.url, path, path.rpartition("/")[2], chunk.file_id)
    return tuple(name for name in names if name)


def find_chunk(chunks: ChunkReader, typed: str, *, graph: GraphReader | None = None) -> Chunk:
    """Return the chunk of an id, with or without its leading `chunk:`; its beginning will do, with a graph.

    Raises: ConfigError: no such chunk in this generation, or several that begin so.
    """
    whole = typed if typed.startswith("chunk:") else f"chunk:{typed}"
    found = chunks.get([whole])
    if not found and graph is not None:
        found = chunks.get([resolve_node_id(graph, typed, kinds=(NodeKind.CHUNK,))])
    if not found:
        raise ConfigError(
            "no such chunk in this generation; ids are in the output of: sitegraph query TEXT",
            subject=typed,
        )
    return found[0]


def split_passage(graph: GraphReader | None, chunk: Chunk) -> tuple[str, str, str]:
    """Return the text of the chunk's section in three: before the passage, the passage, behind it.

    The passage is found by its offsets; a section that changed under it is not guessed at. Without a graph
    there is the passage alone.
    """
    parent = chunk.section_id or chunk.region_id
    nodes = graph.nodes([parent]) if graph and parent else ()
    text = nodes[0].text if nodes and isinstance(nodes[0], Section | PdfRegion) else ""
    start, end = chunk.offsets
    if (text[start:end] or "\0") not in chunk.text:
        return "", chunk.text, ""
    return text[:start], text[start:end], text[end:]


def mark_passage(graph: GraphReader | None, chunk: Chunk) -> str:
    """Return the text of the chunk's section, the passage between » and «; without a graph that alone."""
    return mark_parts(*split_passage(graph, chunk))


def mark_parts(before: str, passage: str, after: str) -> str:
    """Return the three as one text, the passage between » and «."""
    return f"{before}{OPEN_MARK}{passage}{CLOSE_MARK}{after}"
