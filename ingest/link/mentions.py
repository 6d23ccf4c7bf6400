"""What the chunks of a document speak of: `mentions` edges, and the spans that they were read from."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ingest.link.catalogue import Catalogue, EntityCandidate
from ingest.link.naming import is_code_name, is_id, is_name, is_several_words, is_symbol, name_words
from ingest.link.spotting import Span, find_capitalised, find_catalogued, find_ids, find_phrases
from schemas.edges import Edge, EdgeKind, LinkPosition, plain_edge
from schemas.fragment import GraphFragment, Link
from schemas.ids import edge_id, entity_id, normalise_text
from schemas.names import EntityExtractor, Extraction, Triple
from schemas.nodes import Chunk, Entity, EntityType

BY_LINK = 0.8
BY_WORDS = 0.7
"""How sure one of several of a name is meant: since the document links to it, since its words stand there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentContext:
    """What is known of a document whose text is read: what it links to, and its words, case folded."""

    doc: str
    linked: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()


def choose_meanings(
    candidates: Sequence[EntityCandidate], reading: DocumentContext
) -> tuple[EntityCandidate, ...]:
    """Return what a name means in a document: one entity, or all whose ids begin with it, or none if unclear.

    Of several of one name it is the one that the document itself is about or explains; else the one that it
    links to; else the one whose distinguishing words it uses.
    """
    prefixed = tuple(candidate for candidate in candidates if candidate.is_prefix)
    several = [candidate for candidate in candidates if not candidate.is_prefix]
    chosen = several[0] if len(several) == 1 else _choose(several, reading)
    return (*((chosen,) if chosen else ()), *prefixed)


def _choose(several: Collection[EntityCandidate], reading: DocumentContext) -> EntityCandidate | None:
    own = [c for c in several if reading.doc in c.docs or reading.doc in c.definers]
    if own:
        return own[0] if len(own) == 1 else None
    linked = [c for c in several if reading.linked.intersection(c.docs)]
    if len(linked) == 1:
        return replace(linked[0], confidence=min(BY_LINK, linked[0].confidence))
    matching = [c for c in several if _matches(c, reading)]
    return (
        replace(matching[0], confidence=min(BY_WORDS, matching[0].confidence)) if len(matching) == 1 else None
    )


def _matches(candidate: EntityCandidate, reading: DocumentContext) -> bool:
    words = {word.casefold() for word in name_words(candidate.disambiguation) if len(word) > 2}
    return bool(words) and words <= reading.words


MAX_CATALOGUED = 12
MAX_NAMES = 4
MAX_IDS = 4
"""Entities of each sort that one chunk may mention, so that a table or an index does not join everything."""

UNLISTED_CONFIDENCE = 0.6
LINKED_CONFIDENCE = 0.95
"""How sure the mentions are that no catalogue lists, and those that the document's own link explains."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """A span of a chunk's text and the entity it means; `is_own`: it names the document, or a part of it."""

    span: Span
    entity: str
    confidence: float
    is_own: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadChunk:
    """All mentions of one chunk, in reading order, and what an extractor besides the rules says of them."""

    chunk: Chunk
    mentions: tuple[Mention, ...]
    triples: tuple[Triple, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadDocument:
    """What a document speaks of: per chunk, entities that only its text names, names that were unclear."""

    chunks: tuple[ReadChunk, ...]
    found: Mapping[str, Entity]
    unclear: frozenset[str]
    dropped: int = 0


def read_document(
    fragment: GraphFragment,
    catalogue: Catalogue,
    *,
    targets: Mapping[str, str],
    extractor: EntityExtractor | None = None,
) -> ReadDocument:
    """Find what each chunk of a document mentions, by rules and by an extractor if there is one.

    Args: targets: node id of the live document by link target.
    """
    reader = _Reader(fragment, catalogue, targets)
    more = [extractor.extract(chunk.text) if extractor else Extraction() for chunk in fragment.chunks]
    chunks = tuple(reader.read(chunk, of) for chunk, of in zip(fragment.chunks, more, strict=True))
    return ReadDocument(
        chunks=chunks,
        found=reader.found,
        unclear=frozenset(reader.unclear),
        dropped=sum(of.dropped for of in more),
    )


def mention_edges(read: ReadDocument, *, source: str) -> tuple[Edge, ...]:
    """Return an edge from each chunk to each entity it mentions, but for those that name its own document.

    `text` is what stands in the chunk at the first place, `count` how many places there are.
    """
    return tuple(edge for chunk in read.chunks for edge in _edges(chunk, source))


def name_edges(doc: str, catalogue: Catalogue, *, source: str) -> tuple[Edge, ...]:
    """Return an edge to a document, and to each section of it, from the entity whose name it has."""
    return tuple(
        replace(
            plain_edge(EdgeKind.NAMES, entity, node, doc=doc, source=source),
            confidence=confidence,
        )
        for entity, node, confidence in catalogue.by_doc.get(doc, ())
    )


def is_anchor(link: Link) -> bool:
    """Whether the words of a link may be a name of what it leads to."""
    return link.position is LinkPosition.BODY and is_name(link.text)


def _edges(read: ReadChunk, source: str) -> Iterator[Edge]:
    first: dict[str, Mention] = {}
    counts: dict[str, int] = {}
    for mention in read.mentions:
        if not mention.is_own:
            known = first.setdefault(mention.entity, mention)
            surer = max(known.confidence, mention.confidence)
            first[mention.entity] = replace(known, confidence=surer)
            counts[mention.entity] = counts.get(mention.entity, 0) + 1
    for entity, mention in first.items():
        yield Edge(
            id=edge_id(EdgeKind.MENTIONS.value, read.chunk.id, entity),
            kind=EdgeKind.MENTIONS,
            src=read.chunk.id,
            dst=entity,
            doc=read.chunk.doc,
            source=source,
            confidence=mention.confidence,
            count=counts[entity],
            chunk=read.chunk.id,
            text=mention.span.text,
        )


class _Reader:
    """Reads the chunks of one document."""

    def __init__(self, fragment: GraphFragment, catalogue: Catalogue, targets: Mapping[str, str]) -> None:
        self.found: dict[str, Entity] = {}
        self.unclear: set[str] = set()
        words = frozenset(word for chunk in fragment.chunks for word in name_words(chunk.text))
        self._lower = frozenset(word for word in words if word.islower())
        self._catalogue = catalogue
        self._own = frozenset(entity for entity, _, _ in catalogue.by_doc.get(fragment.doc, ()))
        self._anchors = _anchors(fragment, catalogue, targets)
        self._reading = DocumentContext(
            doc=fragment.doc,
            linked=frozenset(targets[link.target] for link in fragment.links if link.target in targets),
            words=frozenset(word.casefold() for word in words),
        )

    def read(self, chunk: Chunk, more: Extraction) -> ReadChunk:
        anchored = find_catalogued(chunk.text, self._anchors)
        spans = find_catalogued(chunk.text, self._catalogue, anchored)
        listed = [
            *(m for span in anchored for m in self._mean(self._anchors, span)),
            *(m for span in spans for m in self._mean(self._catalogue, span) if self._is_meant(chunk, span)),
        ]
        phrases = find_phrases(chunk.text, more.names, (*anchored, *spans))
        names = tuple(
            span
            for span in (*phrases, *find_capitalised(chunk.text, (*anchored, *spans, *phrases)))
            if not is_symbol(span.text)
        )
        ids = find_ids(chunk.text, chunk.codes, (*anchored, *spans, *names))
        mentions = (
            *_at_most(MAX_CATALOGUED, sorted(listed, key=lambda m: (-m.confidence, m.span, m.entity))),
            *_at_most(MAX_NAMES + len(phrases), [self._new(span) for span in names]),
            *_at_most(MAX_IDS, [self._new(span) for span in ids]),
        )
        ordered = tuple(sorted(mentions, key=lambda mention: (mention.span, mention.entity)))
        return ReadChunk(chunk=chunk, mentions=ordered, triples=more.triples)

    def _mean(self, catalogue: Catalogue, span: Span) -> Iterator[Mention]:
        meant = choose_meanings(catalogue.meanings[span.text], self._reading)
        if not meant:
            self.unclear.add(span.text)
        for candidate in meant:
            yield Mention(
                span=span,
                entity=candidate.entity,
                confidence=candidate.confidence,
                is_own=candidate.entity in self._own,
            )

    def _is_meant(self, chunk: Chunk, span: Span) -> bool:
        """Whether a single word is more than a word: one that the document also writes small is none."""
        if is_several_words(span.text) or is_code_name(span.text) or span.text.isupper():
            return True
        return span.text.lower() not in self._lower and not _begins_sentence(chunk.text, span)

    def _new(self, span: Span) -> Mention:
        name = normalise_text(span.text)
        id_ = entity_id(name)
        entity_type = EntityType.CODE if is_id(name) else EntityType.NAME
        self.found.setdefault(id_, Entity(id=id_, doc=id_, name=name, entity_type=entity_type))
        return Mention(span=span, entity=id_, confidence=UNLISTED_CONFIDENCE, is_own=id_ in self._own)


def _anchors(fragment: GraphFragment, catalogue: Catalogue, targets: Mapping[str, str]) -> Catalogue:
    """What the document's own links say that their texts mean."""
    meanings: dict[str, dict[str, EntityCandidate]] = {}
    for link in fragment.links:
        doc = targets.get(link.target)
        entity = catalogue.by_node.get(doc) if doc else None
        if entity and is_anchor(link):
            candidate = EntityCandidate(entity=entity, confidence=LINKED_CONFIDENCE)
            meanings.setdefault(normalise_text(link.text), {})[entity] = candidate
    return Catalogue(meanings={text: tuple(one.values()) for text, one in meanings.items() if len(one) == 1})


def _at_most(limit: int, mentions: Sequence[Mention]) -> Iterator[Mention]:
    """Mentions of the first *limit* entities, all of each."""
    kept: set[str] = set()
    for mention in mentions:
        if mention.entity in kept or len(kept) < limit:
            kept.add(mention.entity)
            yield mention


def _begins_sentence(text: str, span: Span) -> bool:
    before = text[: span.start].rstrip(" \"'“‘(*-•")
    return not before or before[-1] in ".!?:\n"
