"""What asking a model may cost, and what it has cost."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Any

from schemas.errors import BudgetExceeded

_CHARACTERS_A_TOKEN = 4
"""About what tokenizers make of English; for servers that do not say what an answer cost."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletionLimits:
    """What asking may cost: times in seconds, `answer_bytes` of one answer.

    `seconds` is for one question with all its tries and waits, `longest_wait` what a busy server may ask for
    before another try. `calls` (tries count) and `tokens` (questions and answers) are for all questions
    together; None is no limit.
    """

    seconds: float = 60.0
    tries: int = 3
    backoff: float = 0.5
    longest_wait: float = 20.0
    answer_bytes: int = 1_000_000
    calls: int | None = None
    tokens: int | None = None


class Spending:
    """Counts calls and tokens against their limits; threads may share it."""

    def __init__(self, limits: CompletionLimits, *, subject: str) -> None:
        self._limits = limits
        self._subject = subject
        self._lock = Lock()
        self._calls = 0
        self._tokens = 0

    def begin_call(self, request: bytes) -> None:
        """Count a request that is about to be sent, so that what others are about to ask counts too.

        Raises: BudgetExceeded: it is one too many, or its text alone goes past the tokens that are left.
        """
        with self._lock:
            if self._limits.calls is not None and self._calls >= self._limits.calls:
                raise self._exceeded(f"{self._limits.calls} calls", "SITEGRAPH_LLM_CALLS")
            coming = self._tokens + len(request) // _CHARACTERS_A_TOKEN
            if self._limits.tokens is not None and coming > self._limits.tokens:
                raise self._exceeded(f"{self._limits.tokens} tokens", "SITEGRAPH_LLM_TOKENS")
            self._calls += 1
            self._tokens = coming

    def end_call(self, request: bytes, answer: Any) -> None:
        """Count the tokens that *answer* says it cost, or about what it must have."""
        usage = answer.get("usage") if isinstance(answer, Mapping) else None
        tokens = usage.get("total_tokens") if isinstance(usage, Mapping) else None
        if not isinstance(tokens, int) or tokens < 0:
            tokens = (len(request) + len(json.dumps(answer))) // _CHARACTERS_A_TOKEN
        with self._lock:
            self._tokens += max(0, tokens - len(request) // _CHARACTERS_A_TOKEN)

    def _exceeded(self, what: str, setting: str) -> BudgetExceeded:
        message = f"the budget of {what} for the model is used up; raise {setting}, or ask for less"
        return BudgetExceeded(message, subject=self._subject)
