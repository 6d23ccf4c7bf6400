"""Facts of passages by rule: titles, ids, dates and names, each joined to what its passage is about."""

import re
from collections.abc import Collection, Iterator

from retrieval.graph.second_query import proper_spans, split_sentences
from retrieval.iterative.expected import DATE, kind_of_span, kind_of_title
from retrieval.iterative.facts import NameMention, Span, Statement, StepFacts, find_name
from retrieval.iterative.passages import split_title, title_of
from retrieval.question.words import code_tokens, fold
from schemas.evidence import Evidence

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
                statements.append(_statement(title, name, span))
    return StepFacts(mentions=tuple(mentions), statements=tuple(statements))


def _title(passage: Evidence, step: int) -> NameMention:
    name, kind = split_title(title_of(passage))
    return NameMention(
        step=step,
        chunk=passage.chunk_id,
        span=None,
        name=name,
        kind=kind_of_title(next(iter(split_sentences(passage.text)), "")),
        attributes=(("kind", kind),) if kind else (),
        aliases=(passage.doc_id,) if passage.doc_id else (),
        ref=passage.doc,
    )


def _mention(passage: Evidence, name: str, span: Span, step: int) -> NameMention:
    before = passage.text[max(0, span[0] - 30) : span[0]]
    return NameMention(
        step=step, chunk=passage.chunk_id, span=span, name=name, kind=kind_of_span(name, before)
    )


def _statement(title: NameMention, name: str, span: Span) -> Statement:
    return Statement(
        step=title.step,
        chunk=title.chunk,
        span=span,
        subject=title.name,
        predicate=PREDICATE,
        object=name,
        subject_ref=title.ref,
    )


def _names(passage: Evidence) -> Iterator[tuple[str, Span]]:
    """Ids, dates and capitalised names with their places, in order of place, once each."""
    text = passage.text
    dates = [match[0] for match in DATE.finditer(text)]
    spans = [name for sentence in split_sentences(text) for name in proper_spans(sentence)]
    names = (name for name in (*dates, *code_tokens(text), *spans) if not re.fullmatch(r"\W*", name))
    found = {fold(name): (name, span) for name in names if (span := find_name(name, text))}
    placed = sorted(found.values(), key=lambda one: one[1])
    outside = (one for one in placed if not any(_inside(one[1], other[1]) for other in placed))
    return (one for _, one in zip(range(NAMES_MAX), outside, strict=False))


def _inside(span: Span, other: Span) -> bool:
    return span != other and other[0] <= span[0] and span[1] <= other[1]
