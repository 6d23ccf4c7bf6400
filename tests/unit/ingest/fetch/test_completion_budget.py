"""What is asked at the same time shares one budget."""

import pytest

from ingest.fetch.completion import CompletionLimits, Spending
from schemas.errors import BudgetExceeded

REQUEST = b"x" * 240
"""About sixty tokens."""


def test_a_question_counts_from_when_it_is_sent() -> None:
    spending = Spending(CompletionLimits(tokens=100), subject="model")
    spending.begin_call(REQUEST)
    with pytest.raises(BudgetExceeded, match="100 tokens"):
        spending.begin_call(REQUEST)


def test_an_answer_is_counted_once_with_its_question() -> None:
    spending = Spending(CompletionLimits(tokens=200), subject="model")
    for _ in range(2):
        spending.begin_call(REQUEST)
        spending.end_call(REQUEST, {"usage": {"total_tokens": 70}})
    spending.begin_call(REQUEST)
    with pytest.raises(BudgetExceeded):
        spending.begin_call(REQUEST)
