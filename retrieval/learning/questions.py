"""Questions whose answers are known, and their candidates kept, so that other weights cost no retrieval."""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from retrieval.bundle.render import document_names
from retrieval.question.query import TEXT_MAX
from retrieval.ranking.score import Scored, blend
from retrieval.ranking.selection import select_evidence
from retrieval.retriever import RetrievalResult
from schemas.errors import ConfigError
from schemas.evidence import Query, Scores
from schemas.ids import sha256_hex
from schemas.nodes import Chunk
from schemas.text import whole_text

LEAST = 10
"""Fewer questions than this say nothing about a weight."""
FOLDS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownQuestion:
    """A question and the documents that answer it together: node ids, document ids, URLs or paths.

    A page of a PDF is `path#page=3`.
    """

    id: str
    text: str
    gold: tuple[str, ...]

    @property
    def fold(self) -> int:
        """Which part of its half it is in when that is cross-validated."""
        return (_number(self.id) // 2) % FOLDS

    @property
    def is_held_out(self) -> bool:
        """Whether it is never tuned on; by its id alone, so that it stays where it is in a longer file."""
        return _number(self.id) % 2 == 1


def read_questions(records: Sequence[Any], *, subject: str) -> tuple[KnownQuestion, ...]:
    """Read records `{id, question, gold}` in order.

    Raises: ConfigError: a record lacks something, or an id stands there twice.
    """
    questions = tuple(
        _read(record, f"{subject}, question {number}") for number, record in enumerate(records, 1)
    )
    counts = Counter(one.id for one in questions)
    if repeated := sorted(one for one, count in counts.items() if count > 1):
        raise ConfigError(f"has an id more than once: {', '.join(repeated[:3])}", subject=subject)
    return questions


def check_enough(questions: Sequence[KnownQuestion], *, subject: str) -> None:
    """Refuse fewer questions than weights can be fitted to and checked on.

    Raises: ConfigError: fewer than 10, or fewer than 5 in a half; the message says how many are missing.
    """
    held = sum(one.is_held_out for one in questions)
    halves = (len(questions) - held, held)
    if len(questions) >= LEAST and min(halves) >= FOLDS:
        return
    missing = max(LEAST - len(questions), sum(max(0, FOLDS - half) for half in halves))
    raise ConfigError(
        f"has {count_questions(len(questions))}, too few to tune by: it takes {LEAST}, {FOLDS} of them to"
        f" tune and {FOLDS} to check, as their ids decide (here {halves[0]} and {halves[1]}); write at least"
        f" {missing} more",
        subject=subject,
    )


def count_questions(number: int) -> str:
    """Say how many questions.

    >>> count_questions(1), count_questions(2)
    ('1 question', '2 questions')
    """
    return f"{number} question" if number == 1 else f"{number} questions"


def _read(record: Any, subject: str) -> KnownQuestion:
    if not isinstance(record, dict):
        raise ConfigError("is not an object with id, question and gold", subject=subject)
    gold = record.get("gold")
    gold = [gold] if isinstance(gold, str) else gold
    if not isinstance(gold, list) or not gold or not all(isinstance(one, str) and one for one in gold):
        raise ConfigError("gold must list ids, URLs or paths of documents", subject=subject)
    for key in ("id", "question"):
        if not isinstance(record.get(key), str | int) or not str(record[key]).strip():
            raise ConfigError(f"{key} is missing", subject=subject)
    texts = (str(record["id"]), str(record["question"]), *gold)
    if len(texts[1]) > TEXT_MAX or texts != tuple(map(whole_text, texts)):
        raise ConfigError(f"is not a text of at most {TEXT_MAX} characters", subject=subject)
    return KnownQuestion(
        id=str(record["id"]), text=str(record["question"]).strip(), gold=tuple(dict.fromkeys(gold))
    )


def _number(text: str) -> int:
    return int(sha256_hex(text), 16)


TOP_K = 12
"""As many chunks as a bundle contains, so that ten documents fit among them."""
LOOKED_AT = 60
"""Best candidates that are offered to the selection first; all are where these do not fill it, or where it
alternates with what is nearest, which may stand anywhere."""

PARTS = tuple(one.name for one in fields(Scores))


@dataclass(frozen=True, slots=True, kw_only=True)
class Captured:
    """What a question found, and the key of the document each candidate counts for."""

    question: KnownQuestion
    candidates: tuple[Scored, ...]
    copies: Mapping[str, Collection[str]]
    keys: Mapping[str, str]
    nearest: tuple[str, ...] = ()

    def rank_documents(self, weights: Scores) -> tuple[str, ...]:
        """Return the documents of the evidence under other weights, in rank order; gold by its own name."""
        ranked = sorted(self.candidates, key=lambda one: (-blend(one.scores, weights), one.chunk.id))
        few = () if self.nearest else self._select(ranked[:LOOKED_AT])
        chosen = few or self._select(ranked) or ()
        return tuple(dict.fromkeys(self.keys[one.chunk.id] for one in chosen))

    def _select(self, ranked: list[Scored]) -> tuple[Scored, ...] | None:
        """Select as a retriever does; None where a longer list might give others."""
        placed = [replace(one, place=place) for place, one in enumerate(ranked)]
        selection = select_evidence(placed, self.copies, top_k=TOP_K, nearest=self.nearest)
        whole = len(ranked) == len(self.candidates)
        sure = len(selection.chosen) == TOP_K and selection.relaxed == 0
        return selection.chosen if whole or sure else None


def capture(question: KnownQuestion, walk: Callable[[Query], RetrievalResult]) -> Captured:
    """Retrieve once for *question* and keep everything its score is blended from."""
    found = walk(Query(text=question.text, top_k=TOP_K))
    keys = {one.chunk.id: _key(one.chunk, question.gold) for one in found.candidates}
    return Captured(
        question=question,
        candidates=found.candidates,
        copies=found.copies,
        keys=keys,
        nearest=found.nearest,
    )


def _key(chunk: Chunk, gold: Collection[str]) -> str:
    """Return the gold that names a chunk's document, else the document; its page where gold are pages."""
    named = [name for name in gold_names(chunk) if name in gold]
    if named:
        return named[0]
    by_page = chunk.page_no is not None and any("#page=" in one for one in gold)
    return f"{chunk.doc}#page={chunk.page_no}" if by_page else chunk.doc


def gold_names(chunk: Chunk) -> Iterator[str]:
    """Yield the names by which gold may mean the document of a chunk, or its page of a PDF."""
    for name in document_names(chunk):
        yield from (name, f"{name}#page={chunk.page_no}")
