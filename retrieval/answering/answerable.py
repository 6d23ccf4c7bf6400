"""Whether an index answers a question, or only has something near it."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from itertools import pairwise

from indexes.ports import ChunkReader, Encoder, Vector
from retrieval.question.ids import bind_ids
from retrieval.question.route import names_things
from retrieval.question.words import STOP_WORDS, content_words, language_of, primary_language, stems
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
NAME_COSTS = 5.0
"""Logits that it costs if a name or technical term of the question is among the unknown words: an index
without "Prometheus" says nothing of it, one without "leaflet" has another word for it."""
COSINE_LEAST = 0.45
UNKNOWN_COSTS_COSINE = 1.0
"""The same for the cosine of the nearest passage, where no cross-encoder reads."""
SENSE_LEAST, UNKNOWN_COSTS_SENSE, LONG = 0.44, 0.3, 10
"""The same for a question in the asker's own words, and how many it takes to be one. A cross-encoder sees
nothing in what shares no words with it; of a short question that it refuses it is right more often."""
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
    that it names; `lacks_name`: whether one of them is written as a name. `cosine`: of the passage nearest to
    it, 0 for unrelated texts and 1 for equal ones. `sense` is how far above an unrelated passage the nearest
    of the evidence lies, where words and a cross-encoder for English cannot tell; None where they can.
    """

    unknown: float = 0.0
    lacks_name: bool = False
    cosine: float = 1.0
    sense: float | None = None


FAMILIAR = Familiarity()


def measure_familiarity(question: str, chunks: ChunkReader, encoder: Encoder) -> Familiarity:
    """Look up each word of *question* and the nearest passage, in the whole index and whatever the filters.

    Raises: StoreUnavailable: the chunk store is gone.
    """
    vector = encoder.encode_query(question)
    nearest = chunks.search_vector(SearchField.TEXT, vector, top_k=1)
    unrelated = getattr(encoder, "unrelated", 0.0)
    cosine = max((hit.score for hit in nearest), default=unrelated)
    known = weigh_unknown(question, unknown_words(question, chunks, vector))
    return replace(known, cosine=max(0.0, (cosine - unrelated) / (1.0 - unrelated)))


ACROSS = 0.12
"""How much lower unrelated passages lie that are in another language than the question, as a share of what
lies between an unrelated and an equal text: at .81 for E5, which has .83 in one language
(docs/decisions/0021-encoders-by-name.md, "Answers")."""
_ENGLISH_OR_UNTOLD = frozenset({None, "en"})


def measure_evidence(bundle: ContextBundle, chunks: ChunkReader, encoder: Encoder) -> Familiarity:
    """Return what `measure_familiarity` does, with the `sense` of the evidence where question or passage are
    in another language than English, and the encoder puts languages side by side.

    Raises: StoreUnavailable: the chunk store is gone.
    """
    found, asked = measure_familiarity(bundle.query, chunks, encoder), language_of(bundle.query)
    if not getattr(encoder, "joins_languages", False) or not bundle.evidence:
        return found
    vector, ids = encoder.encode_query(bundle.query), sorted({one.chunk_id for one in bundle.evidence})
    cosines = {
        chunk: float(cosine)
        for several, vectors in chunks.text_vectors(ids)
        for chunk, cosine in zip(several, vectors @ vector, strict=True)
    }
    if not cosines:
        return found
    (nearest,) = chunks.get([max(sorted(cosines), key=cosines.__getitem__)])
    read = primary_language(nearest.lang)
    if {asked, read} <= _ENGLISH_OR_UNTOLD:
        return found
    unrelated = getattr(encoder, "unrelated", 0.0)
    above = (cosines[nearest.id] - unrelated) / (1.0 - unrelated)
    return replace(found, sense=above + (ACROSS if asked and read and asked != read else 0.0))


def note_language(question: str, found: Familiarity, *, answered: bool) -> tuple[str, ...]:
    """Say what does not work in the language of a question, or of what was found."""
    asked = language_of(question)
    if found.sense is not None:
        said = f"the question is in {asked!r}" if asked else "what was found is not English"
        return (f"{said}: passages are chosen by their vectors, since the cross-encoder reads English",)
    if answered or asked in _ENGLISH_OR_UNTOLD:
        return ()
    return (f"the question is in {asked!r}; the encoder of this index and the cross-encoder read English",)


def weigh_unknown(question: str, unknown: Collection[str]) -> Familiarity:
    """Return how much of *question* an index knows that lacks the words *unknown*."""
    return Familiarity(
        unknown=len(unknown) / max(1, len(asked_words(question))),
        lacks_name=not written_names(question).isdisjoint(unknown),
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


_OPENS = re.compile(r"(?:^|[.?!:;]\s)\W*$")
"""What stands before a word that begins a sentence, and has its capital from that."""
_FILE_ENDING = (" .", " /", "--")
_ENGLISH = STOP_WORDS - {"an", "in", "it", "so", "was", "will"}
"""Words that German has not, where every noun has a capital."""


def written_names(question: str) -> frozenset[str]:
    """Return the words of a question that are written as names or terms: with capitals, digits, dots before.

    >>> sorted(written_names("Servers die. Does fail2ban read the .xlsx of Prometheus in 10 s?"))
    ['fail2ban', 'prometheus', 'xlsx']
    """
    said = _CONTRACTION.sub("", question)
    found = [(match[0], said[: match.start()]) for match in re.finditer(r"\w+", said)]
    is_english = any(word.casefold() in _ENGLISH for word, _ in found)
    return frozenset(word.casefold() for word, before in found if _is_name(word, before, is_english))


def _is_name(word: str, before: str, is_english: bool) -> bool:
    is_mixed = any(map(str.isalpha, word)) and any(not one.isalpha() for one in word)
    has_capital = is_english and word[0].isupper() and not _OPENS.search(before)
    return is_mixed or has_capital or any(map(str.isupper, word[1:])) or before.endswith(_FILE_ENDING)


_HOW_MANY = re.compile(
    r"(?:^|[.?!:,;]\s|\s-\s)\W*(?:\w+\s){0,2}?how many\b(.*?)"
    r"(?:\b(?:is|are|does|do|did|may|can|must|should|will|has|have|would)\b|[?,.;:]|$)",
    re.IGNORECASE,
)
"""A question that asks for a number itself, and of what; "how do I see how many" asks for a way."""
_NUMBER = re.compile(
    r"\b(?:\d[\d.,]*|zero|one|two|three|four|five|six|seven|eight|nine|ten|twelve|hundred|thousand|unlimited)\b",
    re.IGNORECASE,
)


def tells_number(question: str, sentences: Sequence[str]) -> bool:
    """Whether a sentence and the one before it have a number and what the question counts, if it counts.

    >>> [tells_number("How many keys are there?", [said]) for said in ("Keys are old.", "It has two keys.")]
    [False, True]
    """
    asked = _HOW_MANY.search(question)
    if asked is None:
        return True
    counted = stems(asked[1]) if asked[1].strip() else frozenset()
    said = (" ".join(both) for both in pairwise(("", *sentences)))
    return any(_NUMBER.search(one) and (not counted or counted & stems(one)) for one in said)


def _is_known(word: str, chunks: ChunkReader) -> bool:
    """Whether each part of *word* stands somewhere; a search for `use_key` also finds what has only one."""
    parts = filter(None, word.split("_"))
    return all(any(chunks.search_text(field, one, top_k=1) for field in _WORD_FIELDS) for one in parts)


def doubt(question: str) -> float:
    """Return what a logit must have above the least to tell by itself.

    >>> doubt("what is a target"), doubt("Which standard does every compiler take for a target?")
    (2.0, 0.0)
    """
    return CLEARLY if len(stems(question)) <= SHORT else 0.0


def least_logit(found: Familiarity) -> float:
    """Return what the best passage must have from the cross-encoder."""
    return LOGIT_LEAST + UNKNOWN_COSTS * found.unknown + NAME_COSTS * found.lacks_name


def is_answerable(found: Familiarity, logit: float | None) -> bool:
    """Whether to answer at all: *logit* is the best passage's, None where no cross-encoder reads.

    >>> is_answerable(Familiarity(unknown=0.1), 2.0), is_answerable(Familiarity(unknown=0.2), 2.0)
    (True, False)
    """
    if found.sense is not None:
        return found.sense > 0
    if logit is not None:
        return logit > least_logit(found)
    return found.cosine - UNKNOWN_COSTS_COSINE * found.unknown > COSINE_LEAST


def is_sensed(question: str, found: Familiarity) -> bool:
    """Whether a question told at length, in the asker's own words, is near to a passage by its sense."""
    is_own = len(asked_words(question)) >= LONG and not names_things(question)
    return (
        is_own and not found.lacks_name and found.cosine - UNKNOWN_COSTS_SENSE * found.unknown > SENSE_LEAST
    )
