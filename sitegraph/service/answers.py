"""Answers about one chunk or document of a generation, as records."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from indexes.ports import GraphReader
from indexes.reader_parts import locate_reranker
from indexes.wiring import Readers
from retrieval.bundle.build import build_bundle, evidence_of, locate_in_pdf
from retrieval.bundle.prompt import parse_answer
from retrieval.bundle.render import cite_line, mark_passage
from retrieval.verify.verifier import verify_answer
from schemas.changes import Feed
from schemas.errors import ConfigError, StoreUnavailable
from schemas.evidence import ContextBundle, Origin, Query
from schemas.nodes import Chunk, Node
from schemas.records import node_to_record, to_record
from sitegraph.actions.archive import LedgerArchive
from sitegraph.actions.blame import blame_chunk, history_record, last_departure
from sitegraph.service.parts import Parts
from sitegraph.service.problems import HttpProblem


def chunk_of_generation(readers: Readers, chunk_id: str) -> Chunk:
    """Return a chunk of this generation.

    Raises: HttpProblem: there is none.
    """
    found = readers.chunks.get([chunk_id])
    if not found:
        raise HttpProblem(404, f"generation {readers.generation} has no {chunk_id}", "NotFound")
    return found[0]


def describe_chunk(readers: Readers, chunk_id: str) -> dict[str, Any]:
    """Return a chunk, its citation, and its section with the passage between » and «."""
    chunk = chunk_of_generation(readers, chunk_id)
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
        chunk = chunk_of_generation(readers, chunk_id)
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


PAIRS_MAX = 240
"""Sentences times passages: the cross-encoder reads each pair; on a busy machine 300 took 9 seconds."""

_GIVEN = "given"


def bundle_chunks(readers: Readers, ids: Sequence[str]) -> ContextBundle:
    """Return chunks as evidence S1, S2, ... in the order given, whole; one named twice has two labels.

    Raises: HttpProblem: there is no such chunk.
    """
    chunks = [chunk_of_generation(readers, one) for one in ids]
    return build_bundle(
        Query(text=_GIVEN),
        tuple(
            evidence_of(chunk, f"S{number}", source=Origin.VECTOR, role=_GIVEN)
            for number, chunk in enumerate(chunks, start=1)
        ),
        (),
        route="plain",
        generation=readers.generation,
        as_of=readers.as_of,
        degraded=readers.degraded,
        diagnostics={},
    )


def check_answer(readers: Readers, bundle: ContextBundle, answer: str) -> dict[str, Any]:
    """Return which sentences of *answer* the evidence bears out, each with its citation, and why not others.

    Raises: HttpProblem: the cross-encoder, without which nothing can be checked, is not installed; too much.
    """
    if readers.reranker is None:
        raise HttpProblem(501, f"nothing can be checked here: {_why_no_reranker()}", "NotInstalled")
    parsed = parse_answer(answer, bundle)
    sentences, passages = len(parsed.sentences), len(bundle.evidence)
    if sentences * passages > PAIRS_MAX:
        raise HttpProblem(
            422,
            f"{sentences} sentences with {passages} passages are too many at once: at most {PAIRS_MAX} pairs "
            "are read; verify a part of the answer, or name fewer chunk_ids",
            "InvalidRequest",
        )
    verified = verify_answer(parsed, bundle, reranker=readers.reranker)
    evidence = {one.S: one for one in bundle.evidence}
    return {
        "generation": bundle.generation,
        "not_found": verified.not_found,
        "text": verified.text,
        "kept": [
            {
                "text": one.text,
                "S": one.S,
                "chunk_id": evidence[one.S].chunk_id,
                "citation": cite_line(evidence[one.S], evidence[one.S].pdf),
            }
            for one in verified.kept
        ],
        "dropped": [{"text": one.text, "S": one.S, "reason": one.reason} for one in verified.dropped],
        "unanswered": list(verified.unanswered),
    }


def _why_no_reranker() -> str:
    try:
        locate_reranker()
    except ConfigError as error:
        return str(error)
    return "the cross-encoder cannot be opened"
