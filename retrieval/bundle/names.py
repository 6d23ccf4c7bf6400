"""What nodes on a path are called, so that a chain can be read without looking up its ids."""

from collections.abc import Collection, Mapping
from dataclasses import replace

from indexes.ports import GraphReader
from schemas.errors import StoreUnavailable
from schemas.evidence import Evidence, PathStep
from schemas.names import code_prefix
from schemas.nodes import ChunkNode, Entity, Node, Page, PdfDoc, PdfPage, PdfRegion, Section, Tool


def called(node: Node) -> str:
    """Return what a node is called: a document by its own id where that is a code, else by its title.

    Parts of documents without a name of their own give an empty text.
    """
    match node:
        case Page() | PdfDoc():
            has_code = node.doc_id and code_prefix(node.doc_id.upper())
            name = (
                (node.doc_id if has_code else node.title) or node.doc_id or node.path or node.url or node.id
            )
        case Tool() | Entity():
            name = node.name
        case Section():
            name = node.heading
        case ChunkNode() | PdfPage() | PdfRegion():
            name = ""
    return " ".join((name or "").split())


def read_names(graph: GraphReader, ids: Collection[str]) -> Mapping[str, str]:
    """Return names by node id in at most two calls; a part without a name is called as its document is.

    Raises: StoreUnavailable: the graph is gone.
    """
    nodes = graph.nodes(sorted(set(ids))) if ids else ()
    names = {node.id: called(node) for node in nodes}
    missing = sorted({node.doc for node in nodes if not names[node.id]} - names.keys())
    names |= {node.id: called(node) for node in (graph.nodes(missing) if missing else ())}
    return names | {node.id: names.get(node.doc, "") for node in nodes if not names[node.id]}


def read_titles(graph: GraphReader | None, docs: Collection[str]) -> Mapping[str, str]:
    """Return titles by document; none where the graph, which knows them, is not there."""
    try:
        found = graph.nodes(sorted(set(docs))) if graph is not None and docs else ()
    except StoreUnavailable:
        return {}
    return {node.id: node.title for node in found if isinstance(node, Page | PdfDoc)}


def name_paths(evidence: Collection[Evidence], names: Mapping[str, str]) -> tuple[Evidence, ...]:
    """Return *evidence* with what the ends of each step are called."""
    return tuple(
        replace(one, path=tuple(_named(step, names) for step in one.path)) if one.path else one
        for one in evidence
    )


def ends_of_paths(evidence: Collection[Evidence]) -> frozenset[str]:
    """Return the nodes on the paths of *evidence*."""
    return frozenset(end for one in evidence for step in one.path for end in (step.src, step.dst))


def _named(step: PathStep, names: Mapping[str, str]) -> PathStep:
    return replace(step, src_name=names.get(step.src) or None, dst_name=names.get(step.dst) or None)
