"""Tuning of an index: ask, fit, and store the weights beside it."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from indexes.tuning import save_tuning
from indexes.wiring import Readers
from retrieval.learning.captured import Captured, capture
from retrieval.learning.questions import KnownQuestion
from retrieval.learning.report import tuning_record
from retrieval.learning.tuning import Tuning, tune_blend
from retrieval.opening import build_retriever
from retrieval.ranking.score import WEIGHTS
from runtime.file_errors import os_error_reason
from schemas.errors import ConfigError, GuardRefused
from schemas.evidence import Scores
from sitegraph.cli.evaluation.question_file import QuestionFile

DOCUMENTS = 10
"""As many as the default `top_k` of a check has passages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TunedIndex:
    """A tuning of one generation; `unreached` are the questions of which no gold is among the candidates.

    `answered` are those all of whose gold is among the first ten documents with the weights in use.
    """

    index: Path
    generation: int
    file: QuestionFile
    tuning: Tuning
    unreached: tuple[str, ...]
    answered: tuple[KnownQuestion, ...] = ()

    def record(self) -> dict[str, Any]:
        """Return all of it as JSON-ready values."""
        return {
            "questions": {
                "file": self.file.name,
                "sha256": self.file.sha256,
                "count": len(self.file.questions),
                "unreached": list(self.unreached),
            },
            "generation": self.generation,
            **tuning_record(self.tuning),
        }


def tune_index(readers: Readers, file: QuestionFile, *, on_asked: Callable[[], None]) -> TunedIndex:
    """Ask each question of *file* once and fit the weights of the blend; changes nothing.

    Args: on_asked: called after each question.
    """
    retriever = build_retriever(readers)
    captured: list[Captured] = []
    for question in file.questions:
        captured.append(capture(question, retriever.walk))
        on_asked()
    weights = readers.weights or WEIGHTS
    return TunedIndex(
        index=readers.index,
        generation=readers.generation,
        file=file,
        tuning=tune_blend(captured, current=weights),
        unreached=tuple(one.question.id for one in captured if not _reaches(one)),
        answered=tuple(one.question for one in captured if _answers(one, weights)),
    )


def _reaches(one: Captured) -> bool:
    return not set(one.question.gold).isdisjoint(one.keys.values())


def _answers(one: Captured, weights: Scores) -> bool:
    return set(one.question.gold) <= set(one.rank_documents(weights)[:DOCUMENTS])


def write_checks(tuned: TunedIndex, path: Path) -> None:
    """Write the questions that are answered as a file of checks, to be kept so.

    Raises: ConfigError: there is a file of this name, which may be somebody's work, or none can be written.
    """
    questions = [{"id": one.id, "question": one.text, "cites": list(one.gold)} for one in tuned.answered]
    text = yaml.safe_dump({"questions": questions}, sort_keys=False, allow_unicode=True)
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError as error:
        raise ConfigError("already exists; name another file", subject=str(path)) from error
    except OSError as error:
        raise ConfigError(f"cannot be written ({os_error_reason(error)})", subject=str(path)) from error


def apply_tuning(tuned: TunedIndex, *, timestamp: str) -> Path:
    """Store the fitted weights beside the index, for readers that open it from now on; give the file.

    Raises: GuardRefused: the held-out questions do not confirm them.
    """
    if not tuned.tuning.accepted:
        raise GuardRefused(f"nothing was stored: {tuned.tuning.reason}", subject=tuned.file.name)
    return save_tuning(tuned.index, tuned.tuning.after, {"tuned_at": timestamp, **tuned.record()})
