"""Tuning of an index: ask, fit, and store the weights beside it."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from indexes.tuning import save_tuning
from indexes.wiring import Readers
from retrieval.learning.captured import Captured, capture
from retrieval.learning.report import tuning_record
from retrieval.learning.tuning import Tuning, tune_blend
from retrieval.opening import build_retriever
from retrieval.ranking.score import WEIGHTS
from schemas.errors import GuardRefused
from sitegraph.cli.evaluation.question_file import QuestionFile


@dataclass(frozen=True, slots=True, kw_only=True)
class TunedIndex:
    """A tuning of one generation; `unreached` are the questions of which no gold is among the candidates."""

    index: Path
    generation: int
    file: QuestionFile
    tuning: Tuning
    unreached: tuple[str, ...]

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
    return TunedIndex(
        index=readers.index,
        generation=readers.generation,
        file=file,
        tuning=tune_blend(captured, current=readers.weights or WEIGHTS),
        unreached=tuple(one.question.id for one in captured if not _reaches(one)),
    )


def _reaches(one: Captured) -> bool:
    return not set(one.question.gold).isdisjoint(one.keys.values())


def apply_tuning(tuned: TunedIndex, *, timestamp: str) -> Path:
    """Store the fitted weights beside the index, for readers that open it from now on; give the file.

    Raises: GuardRefused: the held-out questions do not confirm them.
    """
    if not tuned.tuning.accepted:
        raise GuardRefused(f"nothing was stored: {tuned.tuning.reason}", subject=tuned.file.name)
    return save_tuning(tuned.index, tuned.tuning.after, {"tuned_at": timestamp, **tuned.record()})
