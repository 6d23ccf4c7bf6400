"""Answers about one chunk or document of a generation, as records."""

from collections.abc import Collection
from dataclasses import replace
from typing import Any

from indexes.ports import GraphReader
from indexes.wiring import Readers
from retrieval.bundle.build import locate_in_pdf
from retrieval.bundle.passage import mark_passage
from retrieval.bundle.render import cite_line
from schemas.errors import ConfigError, StoreUnavailable
from schemas.feed import Feed
from schemas.nodes import Chunk, Node
from schemas.records import node_to_record, to_record
from sitegraph.service.parts import Parts
from sitegraph.service.problems import HttpProblem
from sitegraph.service.viewer.archive import LedgerArchive
from sitegraph.service.viewer.blame import blame_chunk, history_record, last_departure


def find_chunk(readers: Readers, chunk_id: str) -> Chunk:
    """Return a chunk of this generation.

    Raises: HttpProblem: there is none.
    """
    found = readers.chunks.get([chunk_id])
    if not found:
        raise HttpProblem(404, f"generation {readers.generation} has no {chunk_id}", "NotFound")
    return found[0]


def describe_chunk(readers: Readers, chunk_id: str) -> dict[str, Any]:
    """Return a chunk, its citation, and its section with the passage between » and «."""
    chunk = find_chunk(readers, chunk_id)
    return {
        "generation": readers.generation,
        "citation": _cite(chunk),
        "passage": mark_passage(readers.graph, chunk),
        "chunk": to_record(chunk),
    }


def describe_history(readers: Readers, archive: LedgerArchive, chunk_id: str) -> dict[str, Any]:
    """Return since when a chunk says each of its sentences, and its versions.

    Raises: HttpProblem: there is no such chunk, or it is another by now; StoreUnavailable: the ledger cannot
    be read.
    """
    try:
        chunk = find_chunk(readers, chunk_id)
    except HttpProblem as problem:
        step = last_departure(readers, archive, chunk_id)
        if step is None:
            raise
        now = f"it is {step.new_id}" if step.new_id else f"it is gone ({step.reason})"
        told = f"{problem.detail}: {now} since generation {step.generation}"
        raise HttpProblem(404, told, problem.error) from None
    found = blame_chunk(readers, archive, chunk)
    if found is None:
        raise StoreUnavailable("cannot be read; only it knows earlier passages", subject="ledger")
    return {"generation": readers.generation, **history_record(found)}


def describe_document(readers: Readers, doc: str, *, offset: int, limit: int) -> dict[str, Any]:
    """Return a document and where its chunks are, in reading order, *limit* of them from *offset*.

    Raises: HttpProblem: there is none; StoreUnavailable: the graph, which knows documents, is not there.
    """
    found = find_document(readers, doc)
    chunks = readers.chunks.of_documents([doc])
    return {
        "generation": readers.generation,
        "document": node_to_record(found),
        "total": len(chunks),
        "chunks": _places(chunks[offset : offset + limit]),
    }


def find_document(readers: Readers, doc: str) -> Node:
    """Return the node of a document of this generation.

    Raises: HttpProblem: there is none; StoreUnavailable: the graph, which knows documents, is not there.
    """
    found = open_graph(readers).nodes([doc])
    if not found:
        raise HttpProblem(404, f"generation {readers.generation} has no {doc}", "NotFound")
    return found[0]


def open_graph(readers: Readers) -> GraphReader:
    """Return the graph.

    Raises: StoreUnavailable: it is not there, and why.
    """
    if readers.graph is None:
        raise StoreUnavailable("; ".join(readers.warnings) or "the graph is not there", subject="graph")
    return readers.graph


def _places(chunks: Collection[Chunk]) -> list[dict[str, Any]]:
    return [
        {
            "id": chunk.id,
            "ordinal": chunk.ordinal,
            "heading_path": list(chunk.heading_path),
            "citation": _cite(chunk),
            "token_count": chunk.token_count,
        }
        for chunk in chunks
    ]


def _cite(chunk: Chunk) -> str:
    return cite_line(chunk, locate_in_pdf(chunk))


def describe_readers(readers: Readers) -> dict[str, Any]:
    """Return the generation that is read, and what of it is missing."""
    return {
        "generation": readers.generation,
        "as_of": readers.as_of,
        "degraded": list(readers.degraded),
    }


def read_feed(parts: Parts, *, since: int, until: int | None, source: str | None) -> Feed:
    """Return what changed after a generation.

    Raises: HttpProblem: no such generation; ChangesUnavailable: the feed does not lead from there to here.
    """
    parts.retriever.read(lambda _: None)  # from here on it is the numbers that lead nowhere
    try:
        return parts.changes(since, until, source)
    except ConfigError as error:
        raise HttpProblem(404, str(error), "NotFound") from error


def cut_feed(feed: Feed, *, limit: int) -> Feed:
    """Keep as many whole generations as have at most *limit* entries, at least one; `until` says how far."""
    if len(feed.entries) <= limit:
        return feed
    last = feed.entries[limit].generation - 1
    kept = tuple(entry for entry in feed.entries if entry.generation <= last)
    if not kept:
        last = feed.entries[0].generation
        kept = tuple(entry for entry in feed.entries if entry.generation == last)
    return replace(feed, until=last, entries=kept)
