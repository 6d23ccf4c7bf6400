"""The neighbourhood of nodes (docs/reference/neighbourhood.md), and how it is drawn: as text, DOT and SVG."""

import textwrap
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

from indexes.ports import ChunkReader, GraphReader
from retrieval.bundle.render import show_line
from retrieval.graph.surroundings import OmittedNodes, walk_neighbourhood
from schemas.documents import KnownDocument
from schemas.edges import Edge, EdgeKind
from schemas.nodes import Chunk, ChunkNode, Node, PdfPage, kind_of
from schemas.records import node_to_record, show_as

if TYPE_CHECKING:
    from indexes.stores.ledger.documents import Lookup

_ANY_HOST = "http://host/"


def known_address(name: str) -> str:
    """Return the address that the ledger has for what was typed, or the end of one, without its fragment.

    What names no address is returned as it is.
    """
    from ingest.urls import canonical_url  # what answers over stdio starts without it

    if "://" in name:
        return canonical_url(name) or name
    return (canonical_url(f"{_ANY_HOST}{name.lstrip('/')}") or f"{_ANY_HOST}{name}").removeprefix(_ANY_HOST)


def documents_meant(lookup: "Lookup", known: Collection[KnownDocument]) -> tuple[str, ...]:
    """Return ids of the documents, and of those to which their addresses lead: they do not bear those."""
    places = [document.location for document in known if document.location]
    led_to = lookup.by_uris(places) if places else ()
    return tuple(dict.fromkeys(document.doc for document in (*known, *led_to) if document.doc))


VERSION = 1

_NAMED_BY = ("title", "name", "heading", "caption", "text")
_LABEL_WIDTH = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownNode:
    """A node with what a person knows it by; `place` is its URL, or the path of its file."""

    id: str
    kind: str
    hop: int
    label: str
    place: str | None
    doc: str
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownGraph:
    """A neighbourhood and what was asked for; `start` are the nodes at hop 0, `kinds` null for all."""

    version: int
    generation: int
    start: tuple[str, ...]
    hops: int
    limit: int
    kinds: tuple[EdgeKind, ...] | None
    nodes: tuple[ShownNode, ...]
    edges: tuple[Edge, ...]
    left_out: tuple[OmittedNodes, ...]


def show_around(
    start: tuple[str, ...],
    *,
    graph: GraphReader,
    chunks: ChunkReader,
    generation: int,
    hops: int,
    limit: int,
    kinds: Collection[EdgeKind] = (),
) -> ShownGraph:
    """Walk from *start* in one *generation*, which *graph* and *chunks* read; no *kinds* are all kinds."""
    wanted = tuple(sorted(set(kinds))) or None
    found = walk_neighbourhood(graph, start, hops=hops, limit=limit, kinds=wanted)
    ids = [node.id for node in found.nodes if isinstance(node, ChunkNode)]
    texts = {chunk.id: chunk for chunk in chunks.get(ids)} if ids else {}
    return ShownGraph(
        version=VERSION,
        generation=generation,
        start=start,
        hops=hops,
        limit=limit,
        kinds=wanted,
        nodes=tuple(_shown(node, found.hops[node.id], texts.get(node.id)) for node in found.nodes),
        edges=found.edges,
        left_out=found.left_out,
    )


def _shown(node: Node, hop: int, chunk: Chunk | None) -> ShownNode:
    label, place = shown_label(node, chunk), _place(node, chunk)
    return show_as(ShownNode, node, kind=kind_of(node).value, hop=hop, label=label, place=place)


def shown_label(node: Node, chunk: Chunk | None = None) -> str:
    """Return one line that a person knows a node by: its title, name or heading, else how its text begins."""
    record = node_to_record(node)
    texts = [record.get(name) for name in _NAMED_BY]
    if isinstance(node, PdfPage):
        texts = [f"page {node.page_label or node.page_no}"]
    if isinstance(node, ChunkNode):
        texts = [chunk.text if chunk else None, " > ".join(node.heading_path)]
    named = next((text for text in texts if isinstance(text, str) and text.strip()), node.id)
    return textwrap.shorten(show_line(named), _LABEL_WIDTH, placeholder="…") or node.id


def _place(node: Node, chunk: Chunk | None) -> str | None:
    record = node_to_record(node)
    at = record if chunk is None else {"url": chunk.url, "path": chunk.file_path, "fragment": chunk.fragment}
    base = at.get("url") or at.get("path")
    return f"{base}#{at['fragment']}" if base and at.get("fragment") else base


@dataclass(frozen=True, slots=True)
class Cell:
    """A column and a row, both from 0."""

    column: int
    row: int


def lay_out(graph: ShownGraph) -> Mapping[str, Cell]:
    """Put each node into the column of its hop, near the mean row of the nodes before it.

    One sweep of the barycentre method (Sugiyama, Tagawa, Toda 1981); ties by kind, label and id.
    """
    cells: dict[str, Cell] = {}
    before = _neighbours_before(graph)
    for hop in range(1 + max((node.hop for node in graph.nodes), default=0)):
        column = [node for node in graph.nodes if node.hop == hop]
        mean = {node.id: _mean([cells[near].row for near in before.get(node.id, ())]) for node in column}
        column.sort(key=lambda node: (mean[node.id], node.kind, node.label, node.id))
        cells |= {node.id: Cell(hop, row) for row, node in enumerate(column)}
    return cells


def _neighbours_before(graph: ShownGraph) -> Mapping[str, list[str]]:
    hop = {node.id: node.hop for node in graph.nodes}
    before: dict[str, list[str]] = {}
    for edge in graph.edges:
        for near, far in ((edge.src, edge.dst), (edge.dst, edge.src)):
            if hop[near] < hop[far]:
                before.setdefault(far, []).append(near)
    return before


def _mean(rows: list[int]) -> float:
    return round(sum(rows) / len(rows), 6) if rows else 0.0


_INDENT = "  "


def render_tree(graph: ShownGraph) -> str:
    """Return the tree, the edges that are not in it, and what was left out."""
    nodes = {node.id: node for node in graph.nodes}
    tree = _tree(graph, nodes)
    lines = [line for node in graph.nodes if node.hop == 0 for line in _branch(node, "", nodes, tree)]
    used = {edge.id for reached in tree.values() for _, edge in reached}
    more = [_more(edge, nodes) for edge in graph.edges if edge.id not in used]
    if more:
        lines += ["", "also", *more]
    if graph.left_out:
        lines += ["", say_left_out(graph)]
    return "\n".join(lines)


def say_left_out(graph: ShownGraph) -> str:
    """Say in one line what the limit had no place for; empty if nothing."""
    parts = [f"{one.nodes} by {one.kind} at hop {one.hop}" for one in graph.left_out]
    total = sum(one.nodes for one in graph.left_out)
    return f"left out by --limit {graph.limit}: {total} nodes ({', '.join(parts)})" if parts else ""


_Tree = Mapping[str, list[tuple[ShownNode, Edge]]]


def _tree(graph: ShownGraph, nodes: Mapping[str, ShownNode]) -> _Tree:
    """What was reached from each node: a node hangs at its first edge from the hop before."""
    first: dict[str, tuple[str, Edge]] = {}
    for edge in graph.edges:
        for near, far in ((edge.src, edge.dst), (edge.dst, edge.src)):
            if nodes[far].hop == nodes[near].hop + 1:
                first.setdefault(far, (near, edge))
    tree: dict[str, list[tuple[ShownNode, Edge]]] = {}
    for node in graph.nodes:
        if node.id in first:
            near, edge = first[node.id]
            tree.setdefault(near, []).append((node, edge))
    return tree


def _branch(node: ShownNode, arrow: str, nodes: Mapping[str, ShownNode], tree: _Tree) -> Iterator[str]:
    yield f"{_INDENT * node.hop}{arrow}{node.kind}  {node.label}  [{node.id}]"
    for reached, edge in tree.get(node.id, ()):
        leaving = edge.src == node.id
        yield from _branch(reached, f"--{edge.kind}--> " if leaving else f"<--{edge.kind}-- ", nodes, tree)


def _more(edge: Edge, nodes: Mapping[str, ShownNode]) -> str:
    src, dst = nodes[edge.src], nodes[edge.dst]
    return f"{_INDENT}{src.label} [{src.id}] --{edge.kind}--> {dst.label} [{dst.id}]"


_BOX_WIDTH, _BOX_HEIGHT = 280, 40
_COLUMN, _ROW, _MARGIN = 420, 56, 24
_LINE = 18
_LETTERS = 40
"""Letters of 12 px that a box has room for."""

_COLOURS = ("#1b6ca8", "#b3541e", "#2e7d32", "#7b1fa2", "#8d6e00", "#c2185b", "#00796b", "#5d4037")
"""Dark enough on white (WCAG AA); with more kinds than colours they repeat, and every edge has a title."""

_STYLE = (
    "text{font:12px sans-serif;fill:#222} .kind{fill:#666;font-size:10px} rect{fill:#fff;stroke:#888} "
    ".start{stroke:#222;stroke-width:2} .edge{fill:none;stroke-width:1.5}"
)

Href = Callable[[ShownNode], str]


def render_svg(graph: ShownGraph) -> str:
    """Return an SVG document: boxes in a column a hop, curved arrows coloured by kind, a legend below."""
    style = [_STYLE]
    for place, colour in enumerate(_COLOURS):
        style.append(f".edge.k{place}{{stroke:{colour}}} .head.k{place},text.k{place}{{fill:{colour}}}")
    return _picture(graph, 'xmlns="http://www.w3.org/2000/svg"', f"<style>{' '.join(style)}</style>")


def embed_svg(graph: ShownGraph, *, href: Href, name: str) -> str:
    """Return the same picture for a page, called *name*: each box leads to its *href*.

    What is left out is not said. It has no style of its own, which a content security policy may forbid: the
    page's style sheet gives the classes `edge`, `head`, `kind`, `start` and `k0` to `k7` theirs.
    """
    return _picture(graph, f'class="graph" role="group" aria-label={quoteattr(name)}', "", href)


def _picture(graph: ShownGraph, attributes: str, style: str, href: Href | None = None) -> str:
    cells = lay_out(graph)
    colours = _colours(graph)
    legend = [*colours, *([] if href else filter(None, [say_left_out(graph)]))]
    columns = 1 + max((cell.column for cell in cells.values()), default=0)
    rows = 1 + max((cell.row for cell in cells.values()), default=0)
    width = 2 * _MARGIN + (columns - 1) * _COLUMN + _BOX_WIDTH + _COLUMN // 4
    bottom = 2 * _MARGIN + rows * _ROW
    parts = [
        f'<svg {attributes} width="{width}" height="{bottom + _LINE * len(legend)}">',
        style,
        *_markers(colours),
        *(_arrow(edge, cells, colours[edge.kind]) for edge in graph.edges),
        *(_box(node, cells[node.id], href) for node in graph.nodes),
        *_legend(legend, colours, bottom),
        "</svg>",
    ]
    return "\n".join(filter(None, parts))


def _colours(graph: ShownGraph) -> Mapping[str, str]:
    kinds = sorted({edge.kind.value for edge in graph.edges})
    return {kind: f"k{place % len(_COLOURS)}" for place, kind in enumerate(kinds)}


def _markers(colours: Mapping[str, str]) -> Iterator[str]:
    for kind, colour in colours.items():
        yield (
            f'<marker id="arrow-{kind}" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" '
            f'orient="auto"><path class="head {colour}" d="M0 0L8 4L0 8z"/></marker>'
        )


def _arrow(edge: Edge, cells: Mapping[str, Cell], colour: str) -> str:
    src, dst = cells[edge.src], cells[edge.dst]
    (x0, out), (x1, back) = _side(src, dst), _side(dst, src)
    y0, y1 = _middle(src), _middle(dst)
    said = f"{edge.src} {edge.kind} {edge.dst}"
    return (
        f'<path class="edge {colour}" d="M{x0} {y0}C{x0 + out} {y0} {x1 + back} {y1} {x1} {y1}" '
        f'marker-end="url(#arrow-{edge.kind})"><title>{escape(said)}</title></path>'
    )


def _side(cell: Cell, other: Cell) -> tuple[int, int]:
    """Where an edge meets a box: right, or left towards an earlier column; and which way it bends there."""
    left = _MARGIN + cell.column * _COLUMN
    bend = (_COLUMN - _BOX_WIDTH) // 2
    return (left, -bend) if other.column < cell.column else (left + _BOX_WIDTH, bend)


def _middle(cell: Cell) -> int:
    return _MARGIN + cell.row * _ROW + _BOX_HEIGHT // 2


def _box(node: ShownNode, cell: Cell, href: Href | None) -> str:
    x, y = _MARGIN + cell.column * _COLUMN, _MARGIN + cell.row * _ROW
    named = node.label if len(node.label) <= _LETTERS else f"{node.label[: _LETTERS - 1]}…"
    weight = ' class="start"' if node.hop == 0 else ""
    box = (
        f"<g id={quoteattr(node.id)}><title>{escape(f'{node.label} {node.place or node.id}')}</title>"
        f'<rect x="{x}" y="{y}" width="{_BOX_WIDTH}" height="{_BOX_HEIGHT}" rx="4"{weight}/>'
        f'<text class="kind" x="{x + 8}" y="{y + 15}">{escape(node.kind)}</text>'
        f'<text x="{x + 8}" y="{y + 31}">{escape(named)}</text></g>'
    )
    return f"<a href={quoteattr(href(node))}>{box}</a>" if href else box


def _legend(lines: list[str], colours: Mapping[str, str], top: int) -> Iterator[str]:
    for place, line in enumerate(lines):
        fill = f' class="{colours[line]}"' if line in colours else ""
        yield f'<text x="{_MARGIN}" y="{top + _LINE * place}"{fill}>{escape(line)}</text>'


def render_dot(graph: ShownGraph) -> str:
    """Return a digraph whose node names are node ids."""
    return "\n".join(_lines(graph))


def quote(text: str) -> str:
    """Return *text* as a quoted string of DOT that is shown as it is.

    In a label a backslash begins an escape (`\\N`, `\\l`), so it is doubled; a line break becomes `\\n`.
    Source: graphviz.org, "The DOT Language" and "escString".
    """
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def _lines(graph: ShownGraph) -> Iterator[str]:
    yield "digraph sitegraph {"
    yield "  rankdir=LR;"
    yield "  node [shape=box];"
    if left := say_left_out(graph):
        yield f"  label={quote(left)};"
    for node in graph.nodes:
        weight = ", style=bold" if node.hop == 0 else ""
        named = quote(f"{node.kind}\n{node.label}")
        yield f"  {quote(node.id)} [label={named}{weight}];"
    for edge in graph.edges:
        yield f"  {quote(edge.src)} -> {quote(edge.dst)} [label={quote(edge.kind)}];"
    yield "}"
