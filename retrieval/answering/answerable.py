"""Whether an index answers a question, or only has something near it."""

import re
from dataclasses import dataclass

from indexes.ports import ChunkReader, Encoder, Vector
from retrieval.question.ids import bind_ids
from retrieval.question.words import content_words
from schemas.evidence import SearchField

LOGIT_LEAST = 1.0
"""What the best passage must have from the cross-encoder where every word of the question is known."""
UNKNOWN_COSTS = 7.0
"""Logits that a question loses which the index has no word of; with one of ten words unknown, a tenth of it.

Both are from 108 questions with and 44 without an answer (bench/RESULTS.md, "Answers without a model").
"""
COSINE_LEAST = 0.45
UNKNOWN_COSTS_COSINE = 1.0
"""The same for the cosine of the nearest passage, where no cross-encoder reads."""
_CONTRACTION = re.compile(r"(?<=\w)(?:n['\u2019]t|['\u2019](?:s|re|ve|ll|d|m|t))\b", re.IGNORECASE)
_WORD_FIELDS = (SearchField.TEXT, SearchField.HEADING)


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


def asked_words(question: str) -> tuple[str, ...]:
    """Return the distinct content words of a question, without what contractions leave over.

    >>> asked_words("Why isn't the maintainer's key known?")
    ('maintainer', 'key', 'known')
    """
    return tuple(dict.fromkeys(content_words(_CONTRACTION.sub("", question))))


def _is_known(word: str, chunks: ChunkReader) -> bool:
    return any(chunks.search_text(field, word, top_k=1) for field in _WORD_FIELDS)


def is_answerable(found: Familiarity, logit: float | None) -> bool:
    """Whether to answer at all: *logit* is the best passage's, None where no cross-encoder reads.

    >>> is_answerable(Familiarity(unknown=0.1), 2.0), is_answerable(Familiarity(unknown=0.2), 2.0)
    (True, False)
    """
    if logit is not None:
        return logit - UNKNOWN_COSTS * found.unknown > LOGIT_LEAST
    return found.cosine - UNKNOWN_COSTS_COSINE * found.unknown > COSINE_LEAST
