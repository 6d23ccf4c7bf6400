"""How much the links of all documents, and the clicks of readers, speak for each one (docs/graph.md)."""

from collections.abc import Mapping, Sequence

import numpy as np

from ingest.link.link_state import Floats, LinkState, LinkTable

DAMPING = 0.85
CLOSE_ENOUGH = 1e-10
"""Rounds end when the ranks move by less, all together; each round moves them by .85 of the one before."""


def weigh_documents(state: LinkState, clicks: Mapping[str, int]) -> dict[str, float]:
    """Return the authority of each document, in (0, 1]: `ln(1 + rank / mean rank of kind)` over the greatest.

    It is compared with those of its kind: to a PDF hardly anything links, and it is no worse for that.
    Links to and from what has no kind do not count. *clicks* are the times that a citation of a document was
    followed.
    """
    ordered, kinds, table = _with_kind(state)
    if not ordered:
        return {}
    interest = 1.0 + np.log1p([clicks.get(doc, 0) for doc in ordered])
    ranks = page_rank(table, interest / interest.sum())
    values = np.log1p(ranks / _means(ranks, kinds))
    return dict(zip(ordered, (values / values.max()).tolist(), strict=True))


def _with_kind(state: LinkState) -> tuple[list[str], list[str], LinkTable]:
    """The documents that have authority, what each is compared with, and the links between them."""
    counts = np.array([kind != "" for kind in state.kinds], bool)
    number, table = np.cumsum(counts) - 1, state.links
    both = counts[table.src] & counts[table.dst]
    links = LinkTable(src=number[table.src[both]], dst=number[table.dst[both]], weight=table.weight[both])
    pairs = [(doc, kind) for doc, kind in zip(state.docs, state.kinds, strict=True) if kind]
    return [doc for doc, _ in pairs], [kind for _, kind in pairs], links


def _means(ranks: Floats, kinds: Sequence[str]) -> Floats:
    """The mean rank of the kind of each document."""
    _, number = np.unique(np.array(kinds), return_inverse=True)
    means = np.bincount(number, weights=ranks) / np.bincount(number)
    found: Floats = means[number]
    return found


def page_rank(links: LinkTable, teleport: Floats) -> Floats:
    """Rank by the links, shape (n,), sum 1: who follows links at random is there so much of the time.

    Who stands where no link leaves goes anywhere next, all being equal; who is tired of following goes by
    *teleport*. Source: Brin and Page, "The anatomy of a large-scale hypertextual web search engine", 1998.
    """
    count = len(teleport)
    leaving = np.bincount(links.src, weights=links.weight, minlength=count)
    share = links.weight / leaving[links.src]
    stuck = leaving == 0
    ranks = teleport
    while True:
        followed = np.bincount(links.dst, weights=ranks[links.src] * share, minlength=count)
        moved: Floats = DAMPING * (followed + ranks[stuck].sum() / count) + (1 - DAMPING) * teleport
        if np.abs(moved - ranks).sum() < CLOSE_ENOUGH:
            return moved
        ranks = moved
