"""The neighbourhood of what somebody typed."""

import shlex
from collections.abc import Collection

from flows.run.index import Index
from indexes.ports import GraphReader
from retrieval.node_ids import resolve_node_id, states_kind
from schemas.edges import EdgeKind
from schemas.errors import ConfigError
from sitegraph.cli.documents.find import find_documents
from sitegraph.graph_view.shown import ShownGraph, show_around
from sitegraph.graph_view.start import documents_meant


def show_neighbourhood(
    index: Index,
    name: str,
    *,
    hops: int,
    limit: int,
    kinds: Collection[EdgeKind] = (),
    source: str | None = None,
) -> ShownGraph:
    """Walk from what *name* means, a node id or whatever `find_documents` takes; no *kinds* are all kinds.

    Raises: ConfigError: nothing of that name, or nothing of it in what readers see.
    """
    generation = index.current()
    graph = index.graph.at(generation)
    return show_around(
        _find_start(index, graph, name, source),
        graph=graph,
        chunks=index.chunks.at(generation),
        generation=generation,
        hops=hops,
        limit=limit,
        kinds=kinds,
    )


def _find_start(index: Index, graph: GraphReader, name: str, source: str | None) -> tuple[str, ...]:
    if states_kind(name):
        return (resolve_node_id(graph, name),)
    known = find_documents(index, name, source=source)
    found = tuple(node.id for node in graph.nodes(documents_meant(index.ledger.lookup, known)))
    if not found:
        states = ", ".join(sorted({document.state.value for document in known}))
        raise ConfigError(
            f"is not in this generation ({states}); ask: sitegraph why {shlex.quote(name)}", subject=name
        )
    return found
