"""Questions whose answers are known, to tune by: read, checked, and split into two halves by their ids."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from retrieval.question.query import TEXT_MAX
from schemas.errors import ConfigError
from schemas.hashing import sha256_hex

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
        f"has {_count(len(questions))}, too few to tune by: it takes {LEAST}, {FOLDS} of them to tune and"
        f" {FOLDS} to check, as their ids decide (here {halves[0]} and {halves[1]}); write at least {missing}"
        " more",
        subject=subject,
    )


def _count(number: int) -> str:
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
    if len(texts[1]) > TEXT_MAX or not all(map(_is_text, texts)):
        raise ConfigError(f"is not a text of at most {TEXT_MAX} characters", subject=subject)
    return KnownQuestion(
        id=str(record["id"]), text=str(record["question"]).strip(), gold=tuple(dict.fromkeys(gold))
    )


def _is_text(text: str) -> bool:
    """Whether a text can be written: JSON can contain half a surrogate pair, and UTF-8 cannot."""
    return not any("\ud800" <= char <= "\udfff" for char in text)


def _number(text: str) -> int:
    return int(sha256_hex(text), 16)
