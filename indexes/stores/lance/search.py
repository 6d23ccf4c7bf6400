"""Searches that cut ties by id, whatever order the store gives them in."""

from collections.abc import Callable, Collection

from schemas.evidence import Hit

DECIMALS = 6
"""Digits of a score: the driver's float32 sums differ below that with the order of their terms."""

_SLACK = 16


def best(fetch: Callable[[int], Collection[Hit]], top_k: int) -> tuple[Hit, ...]:
    """Give the best *top_k* hits, ordered (-score, id).

    `fetch(limit)` gives the best *limit*, ties cut arbitrarily; so fetch on while the last one still ties
    with the cut.
    """
    if top_k <= 0:
        return ()
    limit = top_k + _SLACK
    while True:
        hits = sorted(fetch(limit), key=lambda hit: (-hit.score, hit.chunk_id))
        if len(hits) < limit or hits[-1].score < hits[top_k - 1].score:
            return tuple(hits[:top_k])
        limit *= 4
