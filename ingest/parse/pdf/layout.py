"""The layout model of pymupdf on one page, and whether what it says can be believed."""

from collections.abc import Sequence
from functools import cache
from typing import Any

from ingest.parse.pdf.opening import load_pymupdf

MAX_PAGES = 60
"""Pages of one document that the model looks at: each costs 0.5 CPU-s, and the deadline is 120 s."""

_MOST_BOXES = 30
_LEAST_COVERED = 0.5
"""Boxes on a page above which, and share of its words in boxes below which, the model is lost; measured."""

Word = tuple[float, float, float, float, str]


def add_layout(page: Any, words: Sequence[Word]) -> bool:
    """Let the model look at an unrotated page and keep its answer there for `find_tables(union=True)`.

    Gives False where the answer is not to be believed.
    """
    groups = _model().predict(page, return_raw=True)
    boxes = [group["group_bbox"] for group in groups or ()]
    covered = sum(any(_holds(box, word) for box in boxes) for word in words)
    if not boxes or len(boxes) > _MOST_BOXES or covered < _LEAST_COVERED * len(words):
        return False
    page.layout_information = groups
    return True


@cache
def _model() -> Any:
    """Load the model once: 0.5 CPU-s, and 50 MB that stay."""
    load_pymupdf()
    from pymupdf.layout import DocumentLayoutAnalyzer

    return DocumentLayoutAnalyzer.get_model()


def _holds(box: Sequence[float], word: Word) -> bool:
    x, y = (word[0] + word[2]) / 2, (word[1] + word[3]) / 2
    return box[0] <= x <= box[2] and box[1] <= y <= box[3]
