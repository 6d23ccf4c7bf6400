"""What a parser made of a document, as a text that a person reads: one golden file.

Left out on purpose: ids, hashes and offsets, which tests/properties and tests/unit hold, and which nobody
can check by reading.
"""

from collections.abc import Iterable, Iterator

from schemas.edges import EdgeKind
from schemas.fragment import GraphFragment, Link, Reference
from schemas.nodes import BBox, Chunk, Node, Page, PdfPage, PdfRegion, Section, is_document

_HEAD, _TAIL = 8, 5
_TREE = frozenset({EdgeKind.CONTAINS, EdgeKind.PARENT_OF, EdgeKind.MATERIALIZED_FROM})


def outline(fragment: GraphFragment) -> str:
    """Render *fragment*: what it is, its headings or regions, its chunks, its links; lines end in LF."""
    parts = (
        _document(fragment),
        _pages(fragment.nodes),
        _headings(fragment.nodes),
        _regions(fragment.nodes),
        [line for chunk in fragment.chunks for line in _chunk(chunk)],
        [_link(link) for link in fragment.links],
        [_reference(reference) for reference in fragment.references],
        _inner_edges(fragment),
    )
    names = ("DOCUMENT", "PAGES", "HEADINGS", "REGIONS", "CHUNKS", "LINKS", "REFERENCES", "EDGES")
    shown = [(name, list(lines)) for name, lines in zip(names, parts, strict=True)]
    return "\n".join(
        f"{name}\n" + "".join(f"  {line}".rstrip() + "\n" for line in lines) for name, lines in shown if lines
    )


def brief(text: str) -> str:
    """Return *text* in one line, as its first and last words where it is long."""
    words = text.split()
    if len(words) <= _HEAD + _TAIL + 3:
        return " ".join(words)
    left_out = len(words) - _HEAD - _TAIL
    return f"{' '.join(words[:_HEAD])} …({left_out} words)… {' '.join(words[-_TAIL:])}"


def _document(fragment: GraphFragment) -> Iterator[str]:
    node = next((node for node in fragment.nodes if is_document(node)), None)
    yield f"kind: {fragment.kind}"
    yield f"title: {fragment.title}"
    for name in ("lang", "template_type", "page_count"):
        if value := getattr(node, name, None):
            yield f"{name}: {value}"
    if trail := getattr(node, "breadcrumbs", ()):
        yield f"breadcrumbs: {' > '.join(trail)}"
    for name in (
        "doc_id",
        "names",
        "noindex",
        "nofollow",
        "refresh",
        "canonical",
        "alternates",
        "warnings",
        "secrets",
    ):
        if value := getattr(fragment, name):
            yield f"{name}: {_plain(value)}"


def _plain(value: object) -> str:
    return " | ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _pages(nodes: Iterable[Node]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, Page) and not is_document(node):
            yield f"{node.title}  #{node.fragment}"


def _headings(nodes: Iterable[Node]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, Section):
            anchor = f"  #{node.fragment}" if node.fragment else ""
            number = f"({node.number}) " if node.number else ""
            yield f"{'#' * node.level or '-'} {number}{node.heading or 'before the first heading'}{anchor}"


def _regions(nodes: Iterable[Node]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, PdfPage):
            label = f" ({node.page_label})" if node.page_label else ""
            yield f"page {node.page_no}{label}: {node.page_size.width:.0f} x {node.page_size.height:.0f} pt"
        if isinstance(node, PdfRegion):
            caption = f"  caption: {brief(node.caption)}" if node.caption else ""
            yield f"p{node.page_no} {_box(node.bbox)} {node.region_type}{caption}"
            yield from _text(node.text, indent="  ")


def _chunk(chunk: Chunk) -> Iterator[str]:
    where = [
        f"#{fragment}" for fragment in dict.fromkeys((*filter(None, [chunk.fragment]), *chunk.fragments))
    ]
    if chunk.text_fragment:
        where.append(chunk.text_fragment)
    if chunk.page_no and chunk.bbox:
        where.append(f"p{chunk.page_no} {_box(chunk.bbox)}")
    yield f"{chunk.ordinal + 1}. {' > '.join(chunk.heading_path) or '(no heading)'}  {' '.join(where)}"
    told = [f"{chunk.token_count} tokens", f"confidence {chunk.structure_confidence:g}"]
    for name in ("codes", "captions", "code_languages"):
        if value := getattr(chunk, name):
            told.append(f"{name}: {_plain(value)}")
    if chunk.round_trip is False:
        told.append("NOT FOUND at its citation")
    yield f"   [{'; '.join(told)}]"
    yield from _text(chunk.text, indent="   ")


def _text(text: str, *, indent: str) -> Iterator[str]:
    """Line by line, margins kept; rows of tables whole, with a bar where a tab parts cells of a PDF."""
    for line in text.split("\n"):
        row = line.replace("\t", " | ")
        margin = line[: len(line) - len(line.lstrip(" "))]
        yield indent + (row if " | " in row else margin + brief(line))


def _box(box: BBox) -> str:
    return "[" + " ".join(f"{value:.0f}" for value in (box.x0, box.y0, box.x1, box.y1)) + "]"


def _link(link: Link) -> str:
    fragment = f"#{link.fragment}" if link.fragment else ""
    times = f" x{link.count}" if link.count > 1 else ""
    return f'"{brief(link.text)}" -> {link.target}{fragment} ({link.position}{times})'


def _reference(reference: Reference) -> str:
    return f"{reference.predicate or reference.kind} -> {reference.target}"


def _inner_edges(fragment: GraphFragment) -> Iterator[str]:
    said = {
        node.id: brief(getattr(node, "text", "") or getattr(node, "title", "")) for node in fragment.nodes
    }
    said |= {chunk.id: brief(chunk.text) for chunk in fragment.chunks}
    for edge in fragment.edges:
        if edge.kind not in _TREE:
            yield f"{edge.kind}: {said.get(edge.src, '?')} -> {said.get(edge.dst, '?')}"
