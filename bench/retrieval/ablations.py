"""Parts of the blend taken out one at a time, to see what each is worth."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields, replace

from retrieval import score
from retrieval.follow_up import FollowUp
from retrieval.spread import Spread
from schemas.evidence import Scores

ABLATIONS = tuple(one.name for one in fields(Scores))


@contextmanager
def without(part: str) -> Iterator[None]:
    """Give one part of the blend no weight while the block runs; the others keep theirs."""
    weights = score.WEIGHTS
    score.WEIGHTS = replace(weights, **{part: 0.0})
    try:
        yield
    finally:
        score.WEIGHTS = weights


@contextmanager
def without_second_queries() -> Iterator[None]:
    """Have nothing asked a second time while the block runs."""
    asking = FollowUp.light

    def light(_self: FollowUp, spread: Spread) -> tuple[Spread, tuple[str, ...]]:
        return spread, ()

    setattr(FollowUp, "light", light)  # noqa: B010 -- a method of a frozen class, for a while
    try:
        yield
    finally:
        setattr(FollowUp, "light", asking)  # noqa: B010
