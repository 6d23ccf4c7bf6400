"""Which documents link to each other in a generation, kept from one to the next."""

import io
from collections.abc import Iterable, Mapping
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
        self.kinds.update((node.id, kind) for node in nodes if (kind := kind_of(node)))
        for edge in edges:
            if edge.kind is EdgeKind.LINKS_TO and edge.doc != edge.dst:
                pair, weight = (edge.doc, edge.dst), WEIGHTS[edge.position or LinkPosition.BODY]
                self.weights[pair] = max(weight, self.weights.get(pair, 0.0))


def kind_of(node: Node) -> str | None:
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
