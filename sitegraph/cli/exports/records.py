"""Rows of a generation as public records; the contract is docs/reference/export.md."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from flows.run.index import Index
from schemas.documents import DocumentState, LiveDocument
from schemas.nodes import Chunk, DocumentKind
from schemas.records import node_to_record, to_record
from schemas.stable_record import stable_record
from sitegraph.cli.exports.hyperlinks import link_records

_PAGE = 500
_OF_PARTS = ("doc", "fragment")
"""What tells a part of a document from the document."""


def rows(
    index: Index, what: str, *, generation: int, source: str | None, stable: bool, vectors: bool
) -> Iterator[dict[str, Any]]:
    """Yield public records of `documents`, `nodes`, `edges`, `links` or `chunks`, in id order.

    *stable* leaves out what depends on when it was observed and rounds scores to 6 places.
    """
    if generation == 0:
        return iter(())  # empty by definition; stores that are pruned contain no trace of it
    match what:
        case "documents":
            records = _documents(index, generation, source)
        case "nodes":
            records = map(node_to_record, index.graph.at(generation).scan_nodes(source=source))
        case "edges":
            records = map(to_record, index.graph.at(generation).scan_edges(source=source))
        case "links":
            records = link_records(index, generation, source)
        case _:
            records = _chunks(index, generation, source, vectors=vectors)
    return map(stable_record, records) if stable else records


def _documents(index: Index, generation: int, source: str | None) -> Iterator[dict[str, Any]]:
    live = index.ledger.generations.live(generation, source=source)
    graph = index.graph.at(generation)
    for start in range(0, len(live), _PAGE):
        part = {doc: live[doc] for doc in list(live)[start : start + _PAGE]}
        states = _states(index, part.values())
        for node in graph.nodes(part):
            document = part[node.id]
            record = {key: value for key, value in node_to_record(node).items() if key not in _OF_PARTS}
            node_kind, document_kind = record.pop("kind"), record.pop("document_kind", DocumentKind.PDF)
            yield {
                **record,
                "kind": document_kind,
                "node_kind": node_kind,
                "state": states.get((document.source, document.uri), DocumentState.GONE).value,
                "fetched_at": document.fetched_at,
                "last_modified": document.last_modified,
                "last_modified_origin": document.last_modified_origin,
            }


def _states(index: Index, documents: Iterable[LiveDocument]) -> dict[tuple[str, str], DocumentState]:
    """What the ledger now says of documents, by source and URI."""
    uris: dict[str, list[str]] = {}
    for document in documents:
        uris.setdefault(document.source, []).append(document.uri)
    return {
        (source, uri): known.state
        for source, wanted in uris.items()
        for uri, known in index.ledger.documents.get(source, wanted).items()
    }


def _chunks(index: Index, generation: int, source: str | None, *, vectors: bool) -> Iterator[dict[str, Any]]:
    reader = index.chunks.at(generation)
    chunks = reader.scan(source=source)
    if not vectors:
        yield from map(to_record, chunks)
        return
    while part := list(islice(chunks, _PAGE)):
        found = reader.vectors([chunk.id for chunk in part])
        yield from (_with_vectors(chunk, found[chunk.id]) for chunk in part)


def _with_vectors(chunk: Chunk, vectors: Any) -> dict[str, Any]:
    named = {name: getattr(vectors, name).tolist() for name in ("text", "heading", "anchors", "captions")}
    return {**to_record(chunk), "vectors": named}
