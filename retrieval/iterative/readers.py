"""Facts of passages: from the index's own graph, by rule, or from a model."""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from indexes.ports import GraphReader
from retrieval.graph.second_query import proper_spans
from retrieval.graph.surroundings import edges_at, says_something
from retrieval.iterative.facts import (
    DATE,
    EntityKind,
    NameMention,
    Span,
    Statement,
    StepFacts,
    find_name,
    kind_of_span,
    kind_of_title,
    passage_title,
    title_and_kind,
)
from retrieval.question.words import code_tokens, cut_sentences, fold
from schemas.edges import FRONT_MATTER_KINDS, Edge, EdgeKind
from schemas.evidence import Evidence
from schemas.nodes import Entity, Page, PdfDoc

NAMES_MAX = 12
"""Names a passage gives, in order; a list of a hundred would be all the graph."""
PREDICATE = "mentions"


def read_by_rule(passages: Collection[Evidence], known: StepFacts, *, step: int) -> StepFacts:
    """Read names from *passages*, but for those that *known*, which the index says, has of the passage.

    Each is joined to the passage's title by `mentions`: mere company states no more.
    """
    known_names = {(one.chunk, fold(name)) for one in known.mentions for name in (one.name, *one.aliases)}
    refs = {one.chunk: one for one in known.mentions if one.span is None and one.ref}
    mentions: list[NameMention] = []
    statements: list[Statement] = []
    for passage in passages:
        title = refs.get(passage.chunk_id) or _title(passage, step)
        mentions.append(title)
        for name, span in _names(passage):
            if (passage.chunk_id, fold(name)) not in known_names and fold(name) != fold(title.name):
                mentions.append(_mention(passage, name, span, step))
                statements.append(_statement(title, span, title, PREDICATE, mentions[-1]))
    return StepFacts(mentions=tuple(mentions), statements=tuple(statements))


def _title(passage: Evidence, step: int, entity: Entity | None = None) -> NameMention:
    """Return what a passage's document is about: by its title, or the entity that has its name."""
    name, kind = title_and_kind(passage_title(passage))
    return NameMention(
        step=step,
        chunk=passage.chunk_id,
        span=None,
        name=entity.name if entity else name,
        kind=kind_of_title(next(iter(cut_sentences(passage.text)), "")),
        attributes=(("kind", kind),) if kind else (),
        aliases=(*(entity.aliases if entity else ()), *((passage.doc_id,) if passage.doc_id else ())),
        ref=entity.id if entity else passage.doc,
    )


def _mention(
    passage: Evidence,
    name: str,
    span: Span,
    step: int,
    *,
    aliases: tuple[str, ...] = (),
    ref: str | None = None,
) -> NameMention:
    kind = kind_of_span(name, passage.text[max(0, span[0] - 30) : span[0]])
    return NameMention(
        step=step, chunk=passage.chunk_id, span=span, name=name, kind=kind, aliases=aliases, ref=ref
    )


def _statement(
    at: NameMention, span: Span, subject: NameMention, predicate: str, object_: NameMention
) -> Statement:
    """Return what is said of two names where *at* is."""
    return Statement(
        step=at.step,
        chunk=at.chunk,
        span=span,
        subject=subject.name,
        predicate=predicate,
        object=object_.name,
        subject_ref=subject.ref,
        object_ref=object_.ref,
    )


def _names(passage: Evidence) -> Iterator[tuple[str, Span]]:
    """Ids, dates and capitalised names with their places, in order of place, once each."""
    text = passage.text
    dates = [match[0] for match in DATE.finditer(text)]
    spans = [name for sentence in cut_sentences(text) for name in proper_spans(sentence)]
    names = (name for name in (*dates, *code_tokens(text), *spans) if not re.fullmatch(r"\W*", name))
    found = {fold(name): (name, span) for name in names if (span := find_name(name, text))}
    placed = sorted(found.values(), key=lambda one: one[1])
    outside = (one for one in placed if not any(_inside(one[1], other[1]) for other in placed))
    return (one for _, one in zip(range(NAMES_MAX), outside, strict=False))


def _inside(span: Span, other: Span) -> bool:
    return span != other and other[0] <= span[0] and span[1] <= other[1]


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
    own = {
        one.chunk_id: _title(one, step, around.entities.get(around.named.get(one.doc, "")))
        for one in by_chunk.values()
    }
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
    stated = edges_at(graph, docs, kinds=FRONT_MATTER_KINDS)
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
        stated=stated,
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
    return says_something(edge) and edge.chunk in chunks and edge.dst != edge.src


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
            name, _ = title_and_kind(title)
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
        ref, name = around.named.get(there, there), title_and_kind(around.titles.get(there, ""))[0]
        if not name or ref == at.ref:
            continue
        listed = (around.doc_ids[there],) if there in around.doc_ids else ()
        mention = NameMention(step=at.step, chunk=at.chunk, span=None, name=name, aliases=listed, ref=ref)
        ends = (at, mention) if here == edge.src else (mention, at)
        predicate = (edge.predicate or edge.kind.value).replace("_", " ")
        yield (mention,), _statement(at, (0, 0), ends[0], predicate, ends[1])


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
    mention = _mention(passage, name, span, own.step, aliases=aliases, ref=ref)
    return (((mention,), _statement(own, span, own, predicate, mention)),)


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


PREDICATE_MAX = 60
ATTRIBUTES_MAX = 4
FACTS_MAX = 60
"""Entities, and relations, of one answer that are looked at; a model may say the same thing for ever."""


def parse_facts(answer: str, passages: Collection[Evidence], *, step: int) -> StepFacts | None:
    """Read a model's answer; None where it is no JSON object with `entities` and `relations`.

    An entity whose name stands in no passage, by its words, is dropped, and so is a relation whose text is
    not a passage's own or whose ends do not stand in that passage. Both are counted.
    """
    record = _object(answer)
    entities, relations = record.get("entities"), record.get("relations")
    if not isinstance(entities, list) or not isinstance(relations, list):
        return None
    mentions = [tuple(_mentions(one, passages, step)) for one in entities[:FACTS_MAX]]
    statements = [tuple(_statements(one, passages, step)) for one in relations[:FACTS_MAX]]
    beyond = max(0, len(entities) - FACTS_MAX) + max(0, len(relations) - FACTS_MAX)
    return StepFacts(
        mentions=tuple(one for found in mentions for one in found),
        statements=tuple(one for found in statements for one in found),
        dropped=beyond + sum(not found for found in (*mentions, *statements)),
    )


def _object(answer: str) -> Mapping[str, Any]:
    start, end = answer.find("{"), answer.rfind("}")
    try:
        record = json.loads(answer[start : end + 1])
    except (ValueError, RecursionError):
        return {}
    return record if isinstance(record, dict) else {}


def _mentions(given: object, passages: Collection[Evidence], step: int) -> Iterator[NameMention]:
    """One for each passage that has the name."""
    if not isinstance(given, dict) or not isinstance(given.get("name"), str):
        return
    name = " ".join(given["name"].split())
    for passage in passages:
        span = find_name(name, passage.text)
        if span or find_name(name, passage_title(passage)):
            yield NameMention(
                step=step,
                chunk=passage.chunk_id,
                span=span,
                name=name,
                kind=_kind(given.get("kind")),
                attributes=tuple(_attributes(given.get("attributes"), passage)),
                aliases=tuple(sorted({one for one in _strings(given.get("aliases")) if one != name})),
            )


def _kind(given: object) -> EntityKind:
    return next((kind for kind in EntityKind if kind == given), EntityKind.THING)


def _strings(given: object) -> list[str]:
    listed = given if isinstance(given, list) else []
    return [one for text in listed if isinstance(text, str) and (one := " ".join(text.split()))]


def _attributes(given: object, passage: Evidence) -> Iterator[tuple[str, str]]:
    """Those whose value stands in the passage, as pairs of a key and a value."""
    for text in _strings(given)[:ATTRIBUTES_MAX]:
        key, _, value = text.rpartition(":")
        if find_name(value, f"{passage_title(passage)}\n{passage.text}"):
            yield key.strip().casefold(), value.strip()


def _statements(given: object, passages: Collection[Evidence], step: int) -> Iterator[Statement]:
    """One for each passage that says so in these words."""
    keys = ("subject", "predicate", "object", "text")
    if not isinstance(given, dict) or not all(isinstance(given.get(key), str) for key in keys):
        return
    subject, predicate, object_, text = (" ".join(given[key].split()) for key in keys)
    if not 0 < len(predicate) <= PREDICATE_MAX:
        return
    for passage in passages:
        span = find_name(text, passage.text)
        whole = f"{passage_title(passage)}\n{passage.text}"
        if span and find_name(subject, whole) and find_name(object_, whole):
            yield Statement(
                step=step,
                chunk=passage.chunk_id,
                span=span,
                subject=subject,
                predicate=predicate,
                object=object_,
            )
