"""A second question made by rule: what the first leaves open, in the words of what was found for it."""

import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain

from indexes.ports import ChunkReader, Encoder
from retrieval.graph.spreading import Reach, Spread
from retrieval.question.words import STOP_WORDS, content_words, cut_sentences
from retrieval.search.relevance import (
    WORD_FIELDS,
    Measure,
    Scale,
    add_words,
    balance_of,
    best_chunks,
    best_scores,
)
from retrieval.search.seeds import EmbeddedQuery, run_in_parallel
from schemas.evidence import PathStep, SearchField
from schemas.nodes import Chunk

HITS = 2
"""Best documents of a sub-query that are activated, and newly activated ones that ask again."""
CARRY = 0.75
SPANS_MAX = 4
KIND = "second_query"
"""Kind of the step that a path shows for such a find."""

_LEADS = STOP_WORDS | {"he", "her", "his", "she", "after", "also", "both", "during", "while"}
_WORD = re.compile(r"\w+")
_PROPER = re.compile(
    r"\b[A-Z][\w'’-]*(?:\.(?=\s[A-Z]))?(?:\s(?:(?:of|the|de|von|van|la|du|and|&)\s){0,2}[A-Z][\w'’-]*)*|\b[12]\d{3}\b"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowUpQuery:
    """A question made of another, the document whose sentence it takes words from, and its activation."""

    text: str
    doc: str
    chunk: str
    activation: float


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundDocument:
    """A chunk that a search found best in its document; `hit` is its base, in [0, 1], for that search."""

    doc: str
    chunk: str
    hit: float


Search = Callable[[str], tuple[FoundDocument, ...]]
"""A text to the documents it finds, best first, each at its best chunk."""
ReadDocuments = Callable[[Collection[str]], Mapping[str, tuple[Chunk, ...]]]
"""Documents to their best chunks for the question."""


def left_open(question: str, title: str) -> str:
    """Return the words of *question* that do not stand in *title*, in order."""
    known = {word.casefold() for word in _WORD.findall(title)}
    return " ".join(word for word in _WORD.findall(question) if word.casefold() not in known)


def best_sentence(sentences: Sequence[str], wanted: Collection[str]) -> str:
    """Return the sentence with most of the *wanted* words for its length, the first of equals."""
    return max(sentences, key=lambda sentence: _overlap(sentence, wanted), default="")


def make_sub_query(question: str, title: str, sentences: Sequence[str]) -> str | None:
    """Return what *question* leaves open after *title*, with up to 4 names or years of the best sentence.

    None where nothing is left open, or the sentence says no name that the question lacks.
    """
    rest = left_open(question, title)
    wanted = {word for word in content_words(rest) if word not in STOP_WORDS}
    spans = new_spans(best_sentence(sentences, wanted), question)
    return " ".join((rest, *spans)) if wanted and spans else None


def _overlap(sentence: str, wanted: Collection[str]) -> float:
    """Words shared, `n / (1 + ln(1 + length))`, so that a long sentence does not win by length."""
    words = {word.casefold() for word in _WORD.findall(sentence)}
    return round(len(words & set(wanted)) / (1 + math.log(1 + len(words))), 6)


def new_spans(sentence: str, question: str) -> list[str]:
    """Capitalised spans and years that the question lacks, in order, once each."""
    asked = question.casefold()
    return [span for span in proper_spans(sentence) if span.casefold() not in asked][:SPANS_MAX]


def proper_spans(sentence: str) -> list[str]:
    """Capitalised spans and years, in order, once each."""
    spans = dict.fromkeys(_without_lead(match[0]) for match in _PROPER.finditer(sentence))
    return [span for span in spans if span]


def _without_lead(span: str) -> str:
    """Drop a first word that is capitalised only for opening the sentence."""
    first, _, others = span.partition(" ")
    return others if first.casefold() in _LEADS else span


def ask_again(
    question: str, spread: Spread, *, search: Search, read: ReadDocuments
) -> tuple[Spread, tuple[str, ...]]:
    """Activate what second questions find from the anchors, then from the best of the newly found; at most 5.

    What is found so gets `.75 * activation of the asking document * hit` and does not spread on. Returns the
    sub-queries too, in the order asked.
    """
    first = _sub_queries(question, dict(spread.anchors), read)
    activated = _search_all(spread, first, search)
    new = {doc: reach.activation for doc, reach in activated.reached.items() if _is_new(spread, doc)}
    best = sorted(new, key=lambda doc: (-round(new[doc], 6), doc))[:HITS]
    asked_by = {
        doc: next(one for one in first if one.doc == activated.reached[doc].path[-1].src) for doc in best
    }
    second = [one for doc in best for one in _sub_queries(asked_by[doc].text, {doc: new[doc]}, read)]
    return _search_all(activated, second, search), tuple(one.text for one in (*first, *second))


def _is_new(before: Spread, doc: str) -> bool:
    return doc not in before.anchors and doc not in before.reached


def _sub_queries(question: str, docs: Mapping[str, float], read: ReadDocuments) -> list[FollowUpQuery]:
    """One a document, most activated first."""
    texts = read(sorted(docs))
    made: list[FollowUpQuery] = []
    for doc in sorted(texts, key=lambda doc: (-round(docs[doc], 6), doc)):
        said = [(sentence, chunk.id) for chunk in texts[doc] for sentence in cut_sentences(chunk.text)]
        sentences = [sentence for sentence, _ in said]
        title = _title(texts[doc])
        text = make_sub_query(question, title, sentences)
        if text:
            wanted = content_words(left_open(question, title))
            chunk = said[sentences.index(best_sentence(sentences, wanted))][1]
            made.append(FollowUpQuery(text=text, doc=doc, chunk=chunk, activation=docs[doc]))
    return made


def _title(chunks: Collection[Chunk]) -> str:
    first = next(iter(chunks))
    return " ".join(first.heading_path[:1] or first.breadcrumbs[-1:])


def _search_all(spread: Spread, queries: Collection[FollowUpQuery], search: Search) -> Spread:
    reached = dict(spread.reached)
    answers = run_in_parallel([partial(search, one.text) for one in queries])
    for one, answer in zip(queries, answers, strict=True):
        others = [found for found in answer if found.doc != one.doc]
        for found in others[:HITS]:
            activation = CARRY * one.activation * found.hit
            if round(activation, 6) > round(replace(spread, reached=reached).activation(found.doc), 6):
                before = reached[one.doc].path if one.doc in reached else ()
                step = PathStep(src=one.doc, kind=KIND, dst=found.doc, chunk=one.chunk)
                reached[found.doc] = Reach(activation=activation, path=(*before, step), chunk=found.chunk)
    return replace(spread, reached=reached)


DEPTH = 50
READ_CHUNKS = 2
"""Chunks of an asking document whose sentences are looked at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowUp:
    """What a second question needs: the stores, the first question, and what it measured."""

    chunks: ChunkReader
    encoder: Encoder
    asked: EmbeddedQuery
    measure: Measure

    def activate(self, spread: Spread) -> tuple[Spread, tuple[str, ...]]:
        """Ask again from the activated documents; return what is activated then, and the questions."""
        return ask_again(self.asked.query.text, spread, search=self._search, read=self._read)

    def _search(self, text: str) -> tuple[FoundDocument, ...]:
        """Search texts by words and by meaning, both on the scale of their own best hit."""
        again = EmbeddedQuery(
            query=replace(self.asked.query, text=text),
            vector=self.encoder.encode_query(text),
            unrelated=self.asked.unrelated,
        )
        dense = partial(again.dense, self.chunks, SearchField.TEXT, top_k=DEPTH)
        by_words = [partial(again.bm25, self.chunks, field, top_k=DEPTH) for field in WORD_FIELDS]
        sense, *words = run_in_parallel([dense, *by_words])
        balance = balance_of(again)
        bm25, cosine = add_words(words, balance), best_scores(sense)
        scale = Scale(
            bm25=max(bm25.values(), default=0.0),
            cosine=max(cosine.values(), default=0.0),
            unrelated=again.unrelated,
            balance=balance,
        )
        docs = {hit.chunk_id: hit.doc for hit in chain(sense, *words)}
        hits = {one: scale.base(bm25.get(one, 0.0), cosine.get(one, 0.0)) for one in docs}
        best: dict[str, FoundDocument] = {}
        for chunk in best_chunks(hits, limit=len(hits)):
            best.setdefault(docs[chunk], FoundDocument(doc=docs[chunk], chunk=chunk, hit=hits[chunk]))
        return tuple(best.values())

    def _read(self, docs: Collection[str]) -> Mapping[str, tuple[Chunk, ...]]:
        """Return each document's two best chunks for the first question, in reading order."""
        bases = self.measure.of(docs)
        wanted = {chunk for base in bases.values() for chunk in best_chunks(base, limit=READ_CHUNKS)}
        found: dict[str, list[Chunk]] = {}
        for chunk in sorted(self.chunks.get(sorted(wanted)), key=lambda chunk: (chunk.ordinal, chunk.id)):
            found.setdefault(chunk.doc, []).append(chunk)
        return {doc: tuple(found[doc]) for doc in sorted(found)}
