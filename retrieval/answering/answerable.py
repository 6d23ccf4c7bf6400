"""Whether an index answers a question, or only has something near it."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from difflib import get_close_matches

from indexes.ports import ChunkReader, Encoder, Vector
from retrieval.question.ids import bind_ids
from retrieval.question.words import content_words, stems
from schemas.evidence import ContextBundle, SearchField

LOGIT_LEAST = 1.0
"""What the best passage must have from the cross-encoder where every word of the question is known."""
UNKNOWN_COSTS = 7.0
"""Logits that a question loses which the index has no word of; with one of ten words unknown, a tenth of it.

Both are from 108 questions with and 44 without an answer (bench/RESULTS.md, "Answers without a model").
"""
SHORT, CLEARLY = 4, 2.0
"""Words of a short question, and logits above the least that tell by themselves. Longer questions share few
words with their answers, and would lose right ones (bench/RESULTS.md, "Answers without a model")."""
COSINE_LEAST = 0.45
UNKNOWN_COSTS_COSINE = 1.0
"""The same for the cosine of the nearest passage, where no cross-encoder reads."""
SPELLED_AMONG, SPELLED_LIKE, SPELLINGS, MISSPELLED = 50, 0.75, 3, 4
"""Passages nearest to a word whose words are compared with it, least likeness, most of them told, most words.

Encoders read a misspelled word by its parts, so that the right one stands in what is near: for 8 of 9 typing
errors about CMake's manual, and nothing for gibberish.
"""
_SPACED = re.compile(r"[^\W\d_\u0e00-\U0010ffff]\w+")
"""A word of a script that writes spaces between words; of others a whole question is one."""
_CONTRACTION = re.compile(r"(?<=\w)(?:n['\u2019]t|['\u2019](?:s|re|ve|ll|d|m|t))\b", re.IGNORECASE)
_WORD_FIELDS = (SearchField.TEXT, SearchField.HEADING)
_NAME_FIELDS = (SearchField.ANCHORS, SearchField.CODES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Familiarity:
    """How much of a question an index knows.

    `unknown`: share of its content words that stand in no passage and no heading, and are no id of a document
    that it names. `cosine`: of the passage nearest to it, 0 for unrelated texts and 1 for equal ones.
    """

    unknown: float = 0.0
    cosine: float = 1.0


FAMILIAR = Familiarity()


def measure_familiarity(question: str, chunks: ChunkReader, encoder: Encoder) -> Familiarity:
    """Look up each word of *question* and the nearest passage, in the whole index and whatever the filters.

    Raises: StoreUnavailable: the chunk store is gone.
    """
    words, vector = asked_words(question), encoder.encode_query(question)
    unknown = unknown_words(question, chunks, vector)
    nearest = chunks.search_vector(SearchField.TEXT, vector, top_k=1)
    unrelated = getattr(encoder, "unrelated", 0.0)
    cosine = max((hit.score for hit in nearest), default=unrelated)
    return Familiarity(
        unknown=len(unknown) / max(1, len(words)),
        cosine=max(0.0, (cosine - unrelated) / (1.0 - unrelated)),
    )


def unknown_words(question: str, chunks: ChunkReader, vector: Vector) -> tuple[str, ...]:
    """Return the content words of *question* that the index has nowhere: in no passage, no heading, and no id
    of a document that the question names.

    Args: vector: the question's.
    """
    unknown = tuple(word for word in asked_words(question) if not _is_known(word, chunks))
    bound = bind_ids(chunks, question, vector).documents if unknown else {}
    named = {word for token in bound for word in content_words(token)}
    return tuple(word for word in unknown if word not in named)


def spelled_like(
    words: Collection[str], chunks: ChunkReader, encoder: Encoder
) -> Mapping[str, tuple[str, ...]]:
    """Return words of the index that are spelled like *words*, which stand nowhere in it."""
    found = {word: _spelled_like(word, chunks, encoder) for word in tuple(words)[:MISSPELLED]}
    return {word: like for word, like in found.items() if like}


def _spelled_like(word: str, chunks: ChunkReader, encoder: Encoder) -> tuple[str, ...]:
    vector = encoder.encode_query(word)
    near = {
        hit.chunk_id
        for field in _WORD_FIELDS
        for hit in chunks.search_vector(field, vector, top_k=SPELLED_AMONG)
    }
    texts = (" ".join((*one.heading_path, one.text)) for one in chunks.get(sorted(near)))
    known = {each for text in texts for each in content_words(text)}
    return tuple(get_close_matches(word, sorted(known), n=SPELLINGS, cutoff=SPELLED_LIKE))


def is_nowhere(bundle: ContextBundle, chunks: ChunkReader, encoder: Encoder) -> bool:
    """Whether a question is one word that stands nowhere, so that what was found is only near to its letters.

    A word that stands within others ("config") is somewhere, and so is the id of a document or a tool.
    """
    words = asked_words(bundle.query)
    if len(words) != 1 or not _SPACED.fullmatch(words[0]) or bundle.tool_plan:
        return False
    texts = (" ".join((*one.heading_path, *one.breadcrumbs, one.text)) for one in bundle.evidence)
    if any(words[0] in text.casefold() for text in texts):
        return False
    elsewhere = any(chunks.search_text(field, words[0], top_k=1) for field in _NAME_FIELDS)
    return not elsewhere and bool(unknown_words(bundle.query, chunks, encoder.encode_query(bundle.query)))


def asked_words(question: str) -> tuple[str, ...]:
    """Return the distinct content words of a question, without what contractions leave over.

    >>> asked_words("Why isn't the maintainer's key known?")
    ('maintainer', 'key', 'known')
    """
    return tuple(dict.fromkeys(content_words(_CONTRACTION.sub("", question))))


def _is_known(word: str, chunks: ChunkReader) -> bool:
    return any(chunks.search_text(field, word, top_k=1) for field in _WORD_FIELDS)


def doubt(question: str) -> float:
    """Return what a logit must have above the least to tell by itself.

    >>> doubt("what is a target"), doubt("Which standard does every compiler take for a target?")
    (2.0, 0.0)
    """
    return CLEARLY if len(stems(question)) <= SHORT else 0.0


def is_answerable(found: Familiarity, logit: float | None) -> bool:
    """Whether to answer at all: *logit* is the best passage's, None where no cross-encoder reads.

    >>> is_answerable(Familiarity(unknown=0.1), 2.0), is_answerable(Familiarity(unknown=0.2), 2.0)
    (True, False)
    """
    if logit is not None:
        return logit - UNKNOWN_COSTS * found.unknown > LOGIT_LEAST
    return found.cosine - UNKNOWN_COSTS_COSINE * found.unknown > COSINE_LEAST
