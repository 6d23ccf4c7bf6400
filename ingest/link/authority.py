"""How much the links of all documents, and the clicks of readers, speak for each one (docs/graph.md)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from schemas.edges import Edge, LinkPosition

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

DAMPING = 0.85
CLOSE_ENOUGH = 1e-10
"""Rounds end when the ranks move by less, all together; each round moves them by .85 of the one before."""
WEIGHTS = {
    LinkPosition.BODY: 1.0,
    LinkPosition.ASIDE: 0.5,
    LinkPosition.HEADER: 0.15,
    LinkPosition.NAV: 0.15,
    LinkPosition.FOOTER: 0.15,
}
"""What a link counts by its place: a generator writes navigation on every page, and says of none that it
matters. Where each page has the whole contents beside it, all pages would be of one authority."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkTable:
    """Links between documents by number, one for each pair, in order of the pairs."""

    src: Ints
    dst: Ints
    weight: Floats


def weigh_documents(
    kinds: Mapping[str, str], links: Iterable[Edge], clicks: Mapping[str, int]
) -> dict[str, float]:
    """Return the authority of each document, in (0, 1]: `ln(1 + rank / mean rank of kind)` over the greatest.

    *kinds* names the kind of each document: to a PDF hardly anything links, and it is no worse for that.
    *links* may lead to and from parts of documents; those inside one, and to or from none of the documents,
    do not count. *clicks* are the times that a citation of a document was followed.
    """
    ordered = sorted(kinds)
    if not ordered:
        return {}
    table = link_table(ordered, links)
    interest = 1.0 + np.log1p([clicks.get(doc, 0) for doc in ordered])
    ranks = page_rank(table, interest / interest.sum())
    values = np.log1p(ranks / _means(ranks, [kinds[doc] for doc in ordered]))
    return dict(zip(ordered, (values / values.max()).tolist(), strict=True))


def _means(ranks: Floats, kinds: Sequence[str]) -> Floats:
    """The mean rank of the kind of each document."""
    _, number = np.unique(np.array(kinds), return_inverse=True)
    means = np.bincount(number, weights=ranks) / np.bincount(number)
    found: Floats = means[number]
    return found


def link_table(docs: Sequence[str], links: Iterable[Edge]) -> LinkTable:
    """Number the links between documents; of several from one to another the weightiest counts."""
    number = {doc: place for place, doc in enumerate(docs)}
    weights: dict[tuple[int, int], float] = {}
    for link in links:
        src, dst = number.get(link.doc), number.get(link.dst)
        if src is not None and dst is not None and src != dst:
            weight = WEIGHTS[link.position or LinkPosition.BODY]
            weights[src, dst] = max(weight, weights.get((src, dst), 0.0))
    pairs = sorted(weights)
    return LinkTable(
        src=np.array([src for src, _ in pairs], np.int64),
        dst=np.array([dst for _, dst in pairs], np.int64),
        weight=np.array([weights[pair] for pair in pairs], np.float64),
    )


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
