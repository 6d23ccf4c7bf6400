"""A neighbourhood as a picture that any browser shows; nothing has to be installed for it."""

from collections.abc import Callable, Iterator, Mapping
from xml.sax.saxutils import escape, quoteattr

from schemas.edges import Edge
from sitegraph.graph_view.layout import Cell, lay_out
from sitegraph.graph_view.shown import ShownGraph, ShownNode
from sitegraph.graph_view.text import say_left_out

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
