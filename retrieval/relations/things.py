"""The things of the index that a question names: documents by id or title, tools."""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

from indexes.ports import ChunkReader, GraphReader, Vector
from retrieval.bundle.names import called
from retrieval.question.ids import BoundIds, bind_ids
from retrieval.question.relationship import is_entity_name
from schemas.edges import EdgeKind
from schemas.evidence import SearchField
from schemas.nodes import Node, Page, PdfDoc, Tool

NEAR = 20
"""Chunks of each field whose documents and tools may be named."""
HOMONYMS_MAX = 3
"""Documents of one title; a title that more have names none of them."""
_FIELDS = (SearchField.HEADING, SearchField.TEXT, SearchField.ANCHORS)

Span = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedThing:
    """A document, or several of one name, or a tool; `spans` are where the question names it.

    `by_id`: by its own id, `has_id`: it has one.
    """

    name: str
    nodes: tuple[str, ...]
    spans: tuple[Span, ...]
    by_id: bool = False
    has_id: bool = False

    @property
    def start(self) -> int:
        """Where it is first named."""
        return self.spans[0][0]


def find_things(
    chunks: ChunkReader, graph: GraphReader, text: str, vector: Vector
) -> tuple[tuple[NamedThing, ...], BoundIds]:
    """Return the things that *text* names, in order of place, and what its ids are.

    Of names that overlap the longest counts. Raises: StoreUnavailable: a store is gone.
    """
    bound = bind_ids(chunks, text, vector)
    nodes = {node.id: node for node in graph.nodes(bound.all)} if bound.documents else {}
    by_id = [
        NamedThing(
            name=called(nodes[docs[0]]),
            nodes=docs,
            spans=tuple(_places(token, text)),
            by_id=True,
            has_id=True,
        )
        for token, docs in bound.documents.items()
        if docs[0] in nodes
    ]
    taken = [span for one in by_id for span in one.spans]
    known = {node for one in by_id for node in one.nodes}
    by_name = [one for one in _by_name(chunks, graph, text, taken) if known.isdisjoint(one.nodes)]
    found = sorted(_merged([*by_id, *by_name]), key=lambda one: one.start)
    return tuple(found), bound


def _merged(things: Collection[NamedThing]) -> list[NamedThing]:
    """Make one of a thing that is named twice in different words."""
    merged: dict[tuple[str, ...], NamedThing] = {}
    for one in things:
        known = merged.get(one.nodes)
        spans = tuple(sorted({*one.spans, *(known.spans if known else ())}))
        if spans:
            merged[one.nodes] = replace(known or one, spans=spans)
    return list(merged.values())


def _places(name: str, text: str) -> Iterator[Span]:
    words = re.findall(r"\w+", name)
    pattern = r"(?<![\w-])" + r"\W+".join(map(re.escape, words)) + r"(?![\w-])"
    return (match.span() for match in re.finditer(pattern, text, re.IGNORECASE)) if words else iter(())


def _by_name(
    chunks: ChunkReader, graph: GraphReader, text: str, taken: Collection[Span]
) -> Iterator[NamedThing]:
    bearers: dict[str, set[str]] = {}
    written: dict[str, str] = {}
    having_id: set[str] = set()
    for node in _near(chunks, graph, text):
        for name in _names(node):
            bearers.setdefault(name, set()).add(node.id)
            written.setdefault(node.id, called(node))
            if getattr(node, "doc_id", None):
                having_id.add(node.id)
    places: list[Span] = list(taken)
    for name in sorted(bearers, key=lambda one: (-len(one), one)):
        spans = [
            span
            for span in _places(name, text)
            if _is_meant(name, text, span) and not any(span[0] < e and s < span[1] for s, e in places)
        ]
        ids = tuple(sorted(bearers[name]))
        if spans and len(ids) <= HOMONYMS_MAX:
            places += spans
            yield NamedThing(
                name=written[ids[0]], nodes=ids, spans=tuple(spans), has_id=having_id.issuperset(ids)
            )


def _is_meant(name: str, text: str, span: Span) -> bool:
    """Whether words of a question are a name: several, or one that is written as names and codes are."""
    said = text[span[0] : span[1]]
    if len(re.findall(r"\w+", name)) > 1 or re.search(r"[\d_.]|[a-z][A-Z]", said):
        return True
    quoted = text[max(0, span[0] - 1) : span[0]] in {"`", '"', "'", "“"}
    return quoted or (said[0].isupper() and bool(text[: span[0]].strip()))


def _names(node: Node) -> Iterator[str]:
    """Titles, without an id that begins them and without the site's name behind a dash; names of tools."""
    if isinstance(node, Tool):
        yield from (one for one in (node.name, *node.aliases) if is_entity_name(one))
    elif isinstance(node, Page | PdfDoc):
        title = node.title
        bare = re.sub(r"^[A-Z][A-Z0-9]{1,9}-\d{1,6}\W+", "", title)
        short = re.split(r"\s+[—–|]\s+", bare)[0]
        for one in dict.fromkeys((title, bare, short, *((node.doc_id,) if node.doc_id else ()))):
            if is_entity_name(one):
                yield " ".join(one.split())


def _near(chunks: ChunkReader, graph: GraphReader, text: str) -> tuple[Node, ...]:
    hits = {hit.chunk_id: hit.doc for one in _FIELDS for hit in chunks.search_text(one, text, top_k=NEAR)}
    into = graph.edges_to(sorted(hits), kinds={EdgeKind.EXPLAINED_BY}) if hits else ()
    return graph.nodes(sorted({*hits.values(), *(edge.src for edge in into)})) if hits else ()
