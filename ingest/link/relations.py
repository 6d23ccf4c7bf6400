"""How two entities of one sentence are related: `related` edges, by the words that stand between them."""

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from ingest.link.mentions import Mention, ReadChunk, ReadDocument
from schemas.edges import Edge, EdgeKind
from schemas.ids import edge_id, normalise_text

MAX_RELATIONS = 4
"""Relations that one chunk may state."""

MAX_SENTENCE = 400
"""Code points; what is longer is a table or a list without ends of sentences."""

STATED = 0.8
BY_VERB = 0.7
BY_MODEL = 0.65
APPOSED = 0.65
"""How sure a relation is: "X is a part of Y", "X uses Y", what a model says, "X, author of Y"."""

_SENTENCE_END = re.compile(r"(?<=[.!?])[\"'”’)]*\s+(?=[\"'“‘(]?[A-Z0-9])|\n+")
_BRACKETED = re.compile(r"\s*\([^()]*\)\s*")
_NOUN = r"(?:[a-z][\w-]*\s+){0,4}?[a-z][\w-]*"
_LINK = r"(?:of|for|in|by|from|at|to|with|on|as)"
_IS = re.compile(
    rf"(is|are|was|were)\s+(?:(?:an?|the|one|also)\s+){{0,2}}({_NOUN}\s+{_LINK})(?:\s+(?:the|an?))?"
)
_APPOSED = re.compile(
    rf",\s*(?:(?:an?|the)\s+)?(?!and\b|or\b|but\b)({_NOUN}\s+(?:of|for|to))(?:\s+(?:the|an?))?"
)
_PASSIVE = re.compile(r"(?:\w+\s+)?(?:is|are|was|were|been|be)\s")
"""Before "directed by": without it the subject is not the name in front, but what that name belongs to."""
_VERB = re.compile(
    r"(?:(?:also|then|now|always|usually|often|later|who|which|that|and|can|may|must|will|should|does|has|have"
    r"|had|been|is|are|was|were|be)\s+)*"
    r"((?:act|adopt|allow|appear|apply|attack|belong|build|built|buil|call|cause|compos|conduct|configur"
    r"|connect|consist|contain|contribut|control|convert|cover|creat|defin|depend|deriv|describ|design|develop"
    r"|direct|edit|emit|employ|enabl|establish|export|extend|father|featur|follow|found|generat|govern|handl"
    r"|host|implement|import|includ|influenc|inherit|inspir|install|integrat|invent|invok|join|kill|lead|led"
    r"|link|load|locat|made|maintain|manag|marri|mean|merg|mother|nam|operat|own|perform|play|print|process"
    r"|produc|provid|publish|read|receiv|record|refer|relat|releas|render|replac|report|requir|run|ran|send"
    r"|serv|set|sign|star|start|stor|succeed|supersed|support|trigger|us|wait|win|won|wrap|writ|wrote|written)"
    r"(?:s|es|ed|d|e|ing|ies|ied|ten|t|r)?(?:\s+(?:to|on|in|by|from|with|of|for|at|into|as|over|against))?)"
    r"(?:\s+(?:the|an?|its|his|her|their))?"
)


def relation_edges(read: ReadDocument, *, source: str) -> tuple[Edge, ...]:
    """Return the relations that a document's sentences state, once a pair and predicate.

    `text` is the sentence, `chunk` the first that states it, `count` how many do.
    """
    edges: dict[str, Edge] = {}
    for chunk in read.chunks:
        for edge in _of_chunk(chunk, source):
            known = edges.get(edge.id)
            edges[edge.id] = edge if known is None else _again(known)
    return tuple(edge for _, edge in sorted(edges.items()))


def predicate_between(words: str) -> tuple[str, float] | None:
    """Return the predicate that the words between two names state, and how sure that is; None if none.

    >>> predicate_between(" is the capital of ")
    ('is capital of', 0.8)
    >>> predicate_between(" depends on the ")
    ('depends on', 0.7)
    >>> predicate_between(", author of ")
    ('author of', 0.65)
    """
    text = normalise_text(_BRACKETED.sub(" ", words))
    if (verb := _VERB.fullmatch(text)) and (not verb[1].endswith(" by") or _PASSIVE.match(text)):
        return verb[1], BY_VERB
    if stated := _IS.fullmatch(text):
        return f"{stated[1]} {stated[2]}", STATED
    if apposed := _APPOSED.fullmatch(text):
        return apposed[1], APPOSED
    return None


def sentence_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield the half-open offsets of the sentences of a text, without white space at their ends."""
    start = 0
    for end in [*_SENTENCE_END.finditer(text), None]:
        stop = end.start() if end else len(text)
        piece = text[start:stop]
        if piece.strip():
            left = len(piece) - len(piece.lstrip())
            yield start + left, start + len(piece.rstrip())
        start = end.end() if end else stop


def _of_chunk(read: ReadChunk, source: str) -> Iterator[Edge]:
    yield from _told(read, source)
    given = 0
    for start, end in sentence_spans(read.chunk.text):
        inside = [m for m in read.mentions if start <= m.span.start and m.span.end <= end]
        if end - start > MAX_SENTENCE or len(inside) < 2:
            continue
        for edge in _of_sentence(read, inside, (start, end), source):
            if given == MAX_RELATIONS:
                return
            given += 1
            yield edge


def _told(read: ReadChunk, source: str) -> Iterator[Edge]:
    """What an extractor says of two things that the chunk mentions."""
    meant = {mention.span.text: mention for mention in reversed(read.mentions)}
    for triple in read.triples:
        one, other = meant.get(triple.subject), meant.get(triple.object)
        if one and other and one.entity != other.entity:
            yield _edge(read, (one, other), source, (triple.predicate, BY_MODEL), triple.text)


def _of_sentence(
    read: ReadChunk, inside: list[Mention], place: tuple[int, int], source: str
) -> Iterator[Edge]:
    text = read.chunk.text
    for one, other in pairwise(inside):
        between = text[one.span.end : other.span.start]
        if one.entity == other.entity or not (found := predicate_between(between)):
            continue
        yield _edge(read, (one, other), source, found, text[place[0] : place[1]])


def _edge(
    read: ReadChunk, ends: tuple[Mention, Mention], source: str, stated: tuple[str, float], text: str
) -> Edge:
    (one, other), (predicate, confidence) = ends, stated
    return Edge(
        id=edge_id(EdgeKind.RELATED.value, one.entity, other.entity, predicate, read.chunk.doc),
        kind=EdgeKind.RELATED,
        src=one.entity,
        dst=other.entity,
        doc=read.chunk.doc,
        source=source,
        confidence=round(min(confidence, one.confidence, other.confidence), 6),
        chunk=read.chunk.id,
        text=text,
        predicate=predicate,
    )


def _again(edge: Edge) -> Edge:
    return replace(edge, count=edge.count + 1)
