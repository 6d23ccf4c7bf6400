"""What nodes of the graph are called."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from indexes.ports import GraphReader
from retrieval.bundle.names import called
from retrieval.question.words import fold
from schemas.names import code_prefix
from schemas.nodes import ChunkNode, Entity, Node, Page, PdfDoc, Section, Tool


def names_of(node: Node) -> tuple[str, ...]:
    """Return what a node is called, its shown name first; parts of documents have no name of their own."""
    if isinstance(node, Entity | Tool):
        return (node.name, *node.aliases)
    if isinstance(node, Page | PdfDoc):
        own = (node.doc_id, code_prefix(node.doc_id)) if node.doc_id else ()
        return tuple(name for name in (node.title, *own) if name)
    return (node.heading,) if isinstance(node, Section) and node.heading else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Things:
    """Nodes by id; a chunk, and a section without a heading, are called by their document."""

    nodes: Mapping[str, Node]

    def names(self, id_: str) -> tuple[str, ...]:
        """All names of a node, folded to none where it has no words."""
        node = self.nodes.get(id_)
        if node is None:
            return ()
        own = tuple(name for name in names_of(node) if fold(name))
        return own or (self.names(node.doc) if node.doc != id_ else ())

    def is_told_apart(self, id_: str) -> bool:
        """Whether a node is an entity with what tells it from others of its name."""
        node = self.nodes.get(id_)
        return isinstance(node, Entity) and bool(node.disambiguation)

    def called(self, id_: str) -> str:
        """The name to show; of homonyms with what tells them apart."""
        node = self.nodes.get(id_)
        if isinstance(node, Entity) and node.disambiguation:
            return f"{node.name} ({node.disambiguation})"
        if isinstance(node, Page | PdfDoc):
            return called(node)
        if isinstance(node, ChunkNode | Section) and not names_of(node):
            return self.called(node.doc) if node.doc != id_ else ""
        return next(iter(self.names(id_)), "")


def read_things(graph: GraphReader, ids: Iterable[str]) -> Things:
    """Read nodes, and for chunks among them the documents they are of, in two calls."""
    nodes = {node.id: node for node in graph.nodes(sorted(set(ids)))}
    docs = {node.doc for node in nodes.values() if isinstance(node, ChunkNode | Section)}
    return Things(nodes=nodes | {node.id: node for node in graph.nodes(sorted(docs - nodes.keys()))})
