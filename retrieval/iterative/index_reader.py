"""Facts that the index's own graph has of passages: it is asked before anything is read again."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from indexes.ports import GraphReader
from retrieval.graph.second_query import split_sentences
from retrieval.iterative.expected import kind_of_span, kind_of_title
from retrieval.iterative.facts import NameMention, Statement, StepFacts, find_name
from retrieval.iterative.passages import split_title, title_of
from schemas.edges import FRONT_MATTER_KINDS, Edge, EdgeKind, LinkPosition
from schemas.evidence import Evidence
from schemas.nodes import Entity, Page, PdfDoc


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphNeighbours:
    """What the graph has around some passages: edges, and names of what is at their ends."""

    mentions: tuple[Edge, ...]
    stated: tuple[Edge, ...]
    relations: tuple[Edge, ...]
    links: tuple[Edge, ...]
    entities: Mapping[str, Entity]
    titles: Mapping[str, str]
    named: Mapping[str, str]
    """Documents to the entity that has their name."""
    doc_ids: Mapping[str, str]
    """Documents to their own ids."""


def read_from_index(graph: GraphReader, passages: Collection[Evidence], *, step: int) -> StepFacts:
    """Return titles, mentions, relations, body links and front matter of *passages*, as the index has them.

    A relation whose words do not stand in the passage is left out: it would have nothing to show. Front
    matter stands in no passage: what it states of a document has an empty span in the best one of it.
    Raises: StoreUnavailable: the graph is gone.
    """
    around = _look_around(graph, passages)
    by_chunk = {one.chunk_id: one for one in passages}
    own = {one.chunk_id: _own(one, around, step) for one in by_chunk.values()}
    found = (
        *_mentioned(around, by_chunk, own),
        *_linked(around, by_chunk, own),
        *_related(around, by_chunk, step),
        *_stated(around, by_chunk, own),
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
    stated = (
        *graph.edges_from(docs, kinds=FRONT_MATTER_KINDS),
        *graph.edges_to(docs, kinds=FRONT_MATTER_KINDS),
    )
    beside = {end for edge in stated for end in (edge.src, edge.dst)} - set(docs)
    ends = sorted({*(edge.dst for edge in links), *beside})
    names = [edge for edge in graph.edges_to([*docs, *ends], kinds={EdgeKind.NAMES}) if edge.dst == edge.doc]
    named = {edge.dst: edge.src for edge in reversed(names)}
    known = sorted({*(edge.dst for edge in mentions), *named.values()})
    related = graph.edges_from(known, kinds={EdgeKind.RELATED})
    relations = tuple(edge for edge in related if edge.chunk in set(chunks))
    nodes = graph.nodes(sorted({*known, *ends, *(edge.dst for edge in relations)}))
    documents = (*graph.nodes(docs), *nodes) if stated else nodes
    return GraphNeighbours(
        mentions=mentions,
        stated=tuple({edge.id: edge for edge in stated}.values()),
        relations=relations,
        links=tuple(links),
        entities={node.id: node for node in nodes if isinstance(node, Entity)},
        titles={node.id: node.title for node in documents if isinstance(node, Page | PdfDoc)},
        named=named,
        doc_ids={
            node.id: node.doc_id for node in documents if isinstance(node, Page | PdfDoc) and node.doc_id
        },
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


def _stated(
    around: GraphNeighbours, passages: Mapping[str, Evidence], own: Mapping[str, NameMention]
) -> Iterator[FoundStatement]:
    """Yield what front matter states, each at the best passage of one of the two documents."""
    best: dict[str, str] = {}
    for chunk, passage in passages.items():
        best.setdefault(passage.doc, chunk)
    for edge in around.stated:
        here = edge.src if edge.src in best else edge.dst
        at, there = own[best[here]], edge.dst if here == edge.src else edge.src
        ref, name = around.named.get(there, there), split_title(around.titles.get(there, ""))[0]
        if not name or ref == at.ref:
            continue
        listed = (around.doc_ids[there],) if there in around.doc_ids else ()
        mention = NameMention(step=at.step, chunk=at.chunk, span=None, name=name, aliases=listed, ref=ref)
        ends = (at, mention) if here == edge.src else (mention, at)
        yield (mention,), _statement_of(edge, at, *ends)


def _statement_of(edge: Edge, at: NameMention, subject: NameMention, object_: NameMention) -> Statement:
    return Statement(
        step=at.step,
        chunk=at.chunk,
        span=(0, 0),
        subject=subject.name,
        predicate=(edge.predicate or edge.kind.value).replace("_", " "),
        object=object_.name,
        subject_ref=subject.ref,
        object_ref=object_.ref,
    )


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
