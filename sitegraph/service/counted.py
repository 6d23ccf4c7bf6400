"""Counts questions whose answers do not say by their HTTP status how they ended."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

CountQuestion = Callable[[int, bool | None, float], None]
"""Takes an HTTP status that says how a question ended, whether any evidence was found, and seconds."""


@dataclass(slots=True)
class QuestionEnd:
    """How a question ended, as far as is known; one that ends before anything is known has failed."""

    status: int = 500
    found: bool | None = None


def count_nothing(_status: int, _found: bool | None, _seconds: float) -> None:
    """Count no question."""


@contextmanager
def counted(count: CountQuestion, *, clock: Callable[[], float]) -> Iterator[QuestionEnd]:
    """Count the question that the block answers; it sets how that ended. *clock* gives monotonic seconds."""
    asked, began = QuestionEnd(), clock()
    try:
        yield asked
    finally:
        count(asked.status, asked.found, clock() - began)
