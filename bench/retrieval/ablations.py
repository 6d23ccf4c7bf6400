"""Parts of the blend taken out one at a time, to see what each is worth."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields, replace

from retrieval import score
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
