"""Which documents link to each other, and the authority that links and clicks give them (docs/graph.md)."""

import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from schemas.edges import Edge, EdgeKind, LinkPosition
from schemas.nodes import DocumentKind, Node, Page, PageKind, PdfDoc

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

WEIGHTS = {
    LinkPosition.BODY: 1.0,
    LinkPosition.ASIDE: 0.5,
    LinkPosition.HEADER: 0.15,
    LinkPosition.NAV: 0.15,
    LinkPosition.FOOTER: 0.15,
}
"""What a link counts by its place: a generator writes navigation on every page, and says of none that it
matters. Where each page has the whole contents beside it, all pages would be of one authority."""

_TEXTS = ("docs", "kinds")


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkTable:
    """Links between documents by number, one for each pair, in order of the pairs."""

    src: Ints
    dst: Ints
    weight: Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkState:
    """Documents and what they link to, in id order; `kinds` say what each is compared with.

    A kind is empty of what has no authority: a page that is no content, the target of a link that is no
    document.
    """

    docs: tuple[str, ...]
    kinds: tuple[str, ...]
    links: LinkTable


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentLinks:
    """What some documents are and link to, from now on; `docs` that have no kind have no authority.

    `weights` are by source and target: of several links from one to another the weightiest counts.
    """

    docs: set[str] = field(default_factory=set)
    kinds: dict[str, str] = field(default_factory=dict)
    weights: dict[tuple[str, str], float] = field(default_factory=dict)

    def add(self, docs: Iterable[str], nodes: Iterable[Node], edges: Iterable[Edge]) -> None:
        """Take in more documents, with nodes and edges that may be of any kind."""
        self.docs.update(docs)
        self.kinds.update((node.id, kind) for node in nodes if (kind := authority_kind(node)))
        for edge in edges:
            if edge.kind is EdgeKind.LINKS_TO and edge.doc != edge.dst:
                pair, weight = (edge.doc, edge.dst), WEIGHTS[edge.position or LinkPosition.BODY]
                self.weights[pair] = max(weight, self.weights.get(pair, 0.0))


def authority_kind(node: Node) -> str | None:
    """What a document is compared with; None for what has no authority."""
    match node:
        case Page(page_kind=PageKind.CONTENT):
            return node.document_kind
        case PdfDoc():
            return DocumentKind.PDF
        case _:
            return None


def no_links() -> LinkState:
    """The state of an empty index."""
    none = np.zeros(0, np.int64)
    return LinkState(docs=(), kinds=(), links=LinkTable(src=none, dst=none, weight=np.zeros(0)))


def replace_links(state: LinkState, changed: DocumentLinks) -> LinkState:
    """Return the state in which the changed documents are and link as they say, and all others as before."""
    stays = np.array([doc not in changed.docs for doc in state.docs], bool)
    kept = stays[state.links.src]
    table = LinkTable(**{f.name: getattr(state.links, f.name)[kept] for f in fields(LinkTable)})
    kinds = _kinds(state, table, stays, changed)
    docs = tuple(sorted(kinds))
    number = {doc: place for place, doc in enumerate(docs)}
    moved = np.array([number.get(doc, -1) for doc in state.docs], np.int64)
    links = _joined(table, moved, changed.weights, number)
    return LinkState(docs=docs, kinds=tuple(kinds[doc] for doc in docs), links=links)


def _kinds(
    state: LinkState, kept: LinkTable, stays: npt.NDArray[np.bool_], changed: DocumentLinks
) -> dict[str, str]:
    """The kind of each document that has one, and of each end of a link, empty where there is none."""
    ends = np.zeros(len(state.docs), bool)
    ends[kept.src] = ends[kept.dst] = True
    kinds = {
        doc: kind if still else ""
        for doc, kind, still, is_end in zip(state.docs, state.kinds, stays, ends, strict=True)
        if is_end or (still and kind)
    }
    new_ends = (end for pair in changed.weights for end in pair)
    return {**dict.fromkeys(new_ends, ""), **kinds, **changed.kinds}


def _joined(
    kept: LinkTable, moved: Ints, weights: Mapping[tuple[str, str], float], number: Mapping[str, int]
) -> LinkTable:
    """Put new links in among those that stay, which keep their order: only the new ones are sorted."""
    pairs = sorted((number[src], number[dst], weight) for (src, dst), weight in weights.items())
    new = np.array([pair[:2] for pair in pairs], np.int64).reshape(-1, 2)
    src, dst = moved[kept.src], moved[kept.dst]
    at = np.searchsorted(src * len(number) + dst, new @ (len(number), 1), side="right")
    return LinkTable(
        src=np.insert(src, at, new[:, 0]),
        dst=np.insert(dst, at, new[:, 1]),
        weight=np.insert(kept.weight, at, [weight for *_, weight in pairs]),
    )


def dump_links(state: LinkState) -> bytes:
    """Return equal bytes for equal content: an uncompressed NumPy archive."""
    texts = {name: np.frombuffer("\n".join(getattr(state, name)).encode(), np.uint8) for name in _TEXTS}
    table = state.links
    # Numbers of documents fit, and half of the file are they.
    columns: dict[str, npt.NDArray[Any]] = {
        "src": table.src.astype(np.int32),
        "dst": table.dst.astype(np.int32),
        "weight": table.weight,
    }
    file = io.BytesIO()
    np.savez(file, allow_pickle=False, **texts, **columns)
    return file.getvalue()


def load_links(data: bytes) -> LinkState:
    """Read it back."""
    with np.load(io.BytesIO(data), allow_pickle=False) as columns:
        docs, kinds = (columns[name].tobytes().decode() for name in _TEXTS)
        table = LinkTable(
            src=columns["src"].astype(np.int64),
            dst=columns["dst"].astype(np.int64),
            weight=columns["weight"],
        )
    if not docs:
        return no_links()
    return LinkState(docs=tuple(docs.split("\n")), kinds=tuple(kinds.split("\n")), links=table)


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
