"""Which candidates define what a question names: one or two of them belong into every bundle (design 7)."""

import re
from collections.abc import Collection, Iterable

from retrieval.question.words import fold
from retrieval.ranking.score import Scored
from schemas.nodes import Chunk

DEFINITIONS_MAX = 2
_SAYS_WHAT_IT_IS = re.compile(r" (?:\S+ ){0,4}?(?:is|are|was|were|means|denotes|refers to|stands for) ")


def find_definitions(ranked: Iterable[Scored], names: Collection[str]) -> tuple[str, ...]:
    """Return the best candidate for each of *names*, at most 2, in rank order.

    Args: names: what the question names, as `entities_of` gives it.
    """
    open_ = {folded for name in names if (folded := fold(name))}
    found: list[str] = []
    for one in ranked:
        defined = {name for name in open_ if defines(one.chunk, name)}
        if defined:
            found.append(one.chunk.id)
            open_ -= defined
        if not open_ or len(found) == DEFINITIONS_MAX:
            break
    return tuple(found)


def defines(chunk: Chunk, name: str) -> bool:
    """Whether a chunk stands under the folded *name* as its heading, or begins by saying what that is."""
    headings = (*chunk.heading_path[-1:], *chunk.breadcrumbs[-1:])
    if name in map(fold, headings):
        return True
    start = f"{fold(chunk.text[: 10 * len(name) + 200])} "
    for lead in (name, f"the {name}", f"a {name}", f"an {name}"):
        if start.startswith(f"{lead} "):
            return bool(_SAYS_WHAT_IT_IS.match(start, len(lead)))
    return False
