"""Rows of a generation as public records (docs/reference/export.md), and the file or folder they go to."""

import os
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

from flows.run.contexts import load_fragment
from flows.run.index import Index
from ingest.link.links import redirect_ends, resolve_targets
from runtime.settings import naming_file
from schemas.documents import DocumentState, LiveDocument
from schemas.fragment import GraphFragment
from schemas.nodes import Chunk, DocumentKind, Section
from schemas.records import node_to_record, stable_record, to_record

_DOCUMENTS_A_PAGE = 100


def link_records(index: Index, generation: int, source: str | None) -> Iterator[dict[str, Any]]:
    """Yield the links of each document, by its id, in the order of the page.

    `dst` is the document that the link leads to, `section` the one that its fragment names; both null
    where the index contains none.

    Raises: DamageFound: a parsed document is damaged or lost.
    """
    live = index.ledger.generations.live(generation, source=source)
    ends = redirect_ends(index.ledger.redirects.at(generation))
    sections = _Sections(index, generation)
    for start in range(0, len(live), _DOCUMENTS_A_PAGE):
        part = [live[doc] for doc in list(live)[start : start + _DOCUMENTS_A_PAGE] if live[doc].fragment_sha]
        fragments = {one.doc: load_fragment(index, one.fragment_sha) for one in part}
        targets = {link.target for fragment in fragments.values() for link in fragment.links}
        found = resolve_targets(
            targets, redirects=ends, live=lambda docs: index.ledger.generations.live(generation, docs=docs)
        )
        for document in part:
            yield from _records(document, fragments[document.doc], found, sections)


class _Sections:
    """Sections of documents by the fragment that leads to them, read once each."""

    def __init__(self, index: Index, generation: int) -> None:
        self._graph = index.graph.at(generation)
        self._known: dict[str, Mapping[str, str]] = {}

    def named(self, doc: str | None, fragment: str | None) -> str | None:
        if doc is None or fragment is None:
            return None
        if doc not in self._known:
            nodes = (node for node in self._graph.nodes_of([doc]) if isinstance(node, Section))
            self._known[doc] = {node.fragment: node.id for node in nodes if node.fragment}
        return self._known[doc].get(fragment)


def _records(
    document: LiveDocument, fragment: GraphFragment, found: Mapping[str, str], sections: _Sections
) -> Iterator[dict[str, Any]]:
    for link in fragment.links:
        dst = found.get(link.target)
        section = sections.named(dst, link.fragment)
        ours = {"doc": document.doc, "source": document.source, "uri": document.uri}
        yield {**ours, **to_record(link), "dst": dst, "section": section}


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


@contextmanager
def open_target(path: Path | None) -> Iterator[BinaryIO]:
    """Return a stream of bytes; a file takes its place when the block ends well, an old one stays until then.

    Raises: ConfigError: it cannot be written there.
    """
    if path is None:
        yield sys.stdout.buffer
        return
    with _beside(path.absolute().parent) as scratch:
        with (scratch / path.name).open("wb") as file:
            yield file
        _move(scratch / path.name, path)


@contextmanager
def fill_folder(folder: Path) -> Iterator[Path]:
    """Return a folder to write files into; they move to *folder* when the block ends well.

    Raises: ConfigError: it cannot be written there.
    """
    with naming_file(folder, "cannot be written"):
        folder.mkdir(parents=True, exist_ok=True)
    with _beside(folder) as scratch:
        yield scratch
        for file in sorted(scratch.iterdir()):
            _move(file, folder / file.name)


@contextmanager
def _beside(folder: Path) -> Iterator[Path]:
    with naming_file(folder, "cannot be written"):
        scratch = Path(tempfile.mkdtemp(prefix=".export-", dir=folder))
    try:
        yield scratch
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _move(file: Path, target: Path) -> None:
    with naming_file(target, "cannot be written"):
        os.replace(file, target)
