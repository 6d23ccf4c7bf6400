"""Facts that the index's own graph has of passages: it is asked before anything is read again."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from indexes.ports import GraphReader
from retrieval.graph.second_query import split_sentences
from retrieval.iterative.expected import kind_of_span, kind_of_title
from retrieval.iterative.facts import NameMention, Statement, StepFacts, find_name
from retrieval.iterative.passages import split_title, title_of
from schemas.edges import Edge, EdgeKind, LinkPosition
from schemas.evidence import Evidence
from schemas.nodes import Entity, Page, PdfDoc


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphNeighbours:
    """What the graph has around some passages: edges, and names of what is at their ends."""

    mentions: tuple[Edge, ...]
    relations: tuple[Edge, ...]
    links: tuple[Edge, ...]
    entities: Mapping[str, Entity]
    titles: Mapping[str, str]
    named: Mapping[str, str]
    """Documents to the entity that has their name."""


def read_from_index(graph: GraphReader, passages: Collection[Evidence], *, step: int) -> StepFacts:
    """Return titles, mentions, relations and body links of *passages* as the index has them.

    A relation whose words do not stand in the passage is left out: it would have nothing to show.
    Raises: StoreUnavailable: the graph is gone.
    """
    around = _look_around(graph, passages)
    by_chunk = {one.chunk_id: one for one in passages}
    own = {one.chunk_id: _own(one, around, step) for one in by_chunk.values()}
    found = (
        *_mentioned(around, by_chunk, own),
        *_linked(around, by_chunk, own),
        *_related(around, by_chunk, step),
    )
    return StepFacts(
        mentions=(*own.values(), *(mention for mentions, _ in found for mention in mentions)),
        statements=tuple(statement for _, statement in found),
    )


def _look_around(graph: GraphReader, passages: Collection[Evidence]) -> GraphNeighbours:
    chunks = sorted({one.chunk_id for one in passages})
    docs = sorted({one.doc for one in passages})
    mentions = graph.edges_from(chunks, kinds={EdgeKind.MENTIONS})
    links = [edge for edge in graph.edges_from(docs, kinds={EdgeKind.LINKS_TO}) if _in_body(edge, chunks)]
    ends = sorted({edge.dst for edge in links})
    names = [edge for edge in graph.edges_to([*docs, *ends], kinds={EdgeKind.NAMES}) if edge.dst == edge.doc]
    named = {edge.dst: edge.src for edge in reversed(names)}
    known = sorted({*(edge.dst for edge in mentions), *named.values()})
    related = graph.edges_from(known, kinds={EdgeKind.RELATED})
    relations = tuple(edge for edge in related if edge.chunk in set(chunks))
    nodes = graph.nodes(sorted({*known, *ends, *(edge.dst for edge in relations)}))
    return GraphNeighbours(
        mentions=mentions,
        relations=relations,
        links=tuple(links),
        entities={node.id: node for node in nodes if isinstance(node, Entity)},
        titles={node.id: node.title for node in nodes if isinstance(node, Page | PdfDoc)},
        named=named,
    )


def _in_body(edge: Edge, chunks: Collection[str]) -> bool:
    return edge.position in {LinkPosition.BODY, None} and edge.chunk in chunks and edge.dst != edge.src


def _own(passage: Evidence, around: GraphNeighbours, step: int) -> NameMention:
    """What the passage's document is about, by its title."""
    entity = around.entities.get(around.named.get(passage.doc, ""))
    name, kind = split_title(title_of(passage))
    return NameMention(
        step=step,
        chunk=passage.chunk_id,
        span=None,
        name=entity.name if entity else name,
        kind=kind_of_title(next(iter(split_sentences(passage.text)), "")),
        attributes=(("kind", kind),) if kind else (),
        aliases=(*(entity.aliases if entity else ()), *((passage.doc_id,) if passage.doc_id else ())),
        ref=entity.id if entity else passage.doc,
    )


FoundStatement = tuple[tuple[NameMention, ...], Statement]


def _mentioned(
    around: GraphNeighbours, passages: Mapping[str, Evidence], own: Mapping[str, NameMention]
) -> Iterator[FoundStatement]:
    for edge in around.mentions:
        entity = around.entities.get(edge.dst)
        if entity:
            yield from _joined(
                passages[edge.src], own[edge.src], edge.text or entity.name, "mentions", entity.name,
                entity.aliases, entity.id,
            )  # fmt: skip


def _linked(
    around: GraphNeighbours, passages: Mapping[str, Evidence], own: Mapping[str, NameMention]
) -> Iterator[FoundStatement]:
    for edge in around.links:
        chunk, title = edge.chunk or "", around.titles.get(edge.dst, "")
        ref = around.named.get(edge.dst, edge.dst)
        if title:
            name, _ = split_title(title)
            yield from _joined(passages[chunk], own[chunk], edge.anchor_text or "", "links to", name, (), ref)


def _joined(
    passage: Evidence,
    own: NameMention,
    words: str,
    predicate: str,
    name: str,
    aliases: tuple[str, ...],
    ref: str,
) -> Iterable[FoundStatement]:
    span = find_name(words, passage.text)
    if span is None or ref == own.ref:
        return ()
    kind = kind_of_span(name, passage.text[max(0, span[0] - 30) : span[0]])
    mention = NameMention(
        step=own.step, chunk=passage.chunk_id, span=span, name=name, kind=kind, aliases=aliases, ref=ref
    )
    statement = Statement(
        step=own.step,
        chunk=passage.chunk_id,
        span=span,
        subject=own.name,
        predicate=predicate,
        object=name,
        subject_ref=own.ref,
        object_ref=ref,
    )
    return (((mention,), statement),)


def _related(
    around: GraphNeighbours, passages: Mapping[str, Evidence], step: int
) -> Iterator[FoundStatement]:
    for edge in around.relations:
        subject, object_ = around.entities.get(edge.src), around.entities.get(edge.dst)
        passage = passages[edge.chunk or ""]
        span = find_name(edge.text or "", passage.text)
        if subject and object_ and span:
            yield (
                (),
                Statement(
                    step=step,
                    chunk=passage.chunk_id,
                    span=span,
                    subject=subject.name,
                    predicate=edge.predicate or EdgeKind.RELATED.value,
                    object=object_.name,
                    subject_ref=subject.id,
                    object_ref=object_.id,
                ),
            )
