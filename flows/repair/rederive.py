"""Documents parsed and linked again in a scratch index, and compared with what they gave before."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from flows.commit.restore import additions
from flows.crawl.parse import parse_batch
from flows.derive.link import DECIDED_ELSEWHERE, NextGeneration, link_documents
from flows.derive.neighbours import rule_of
from flows.repair.compare import Deviation, Record, compare_rows, compare_vectors, differing_fields
from flows.repair.scratch import Scratch
from flows.run.contexts import load_fragment
from indexes.embed.pending import chunk_vectors, vector_texts
from indexes.embed.screen import open_screen
from ingest.link.chunk_columns import columns_of, joined
from ingest.link.similar_to import held_rows, similar_rows
from ingest.link.similarity import compare_chunks, nothing_similar
from ingest.parse.formats.registry import document_versions
from ingest.urls import is_tools_url
from schemas.batches import batched
from schemas.changes import RowChanges
from schemas.documents import DocumentState, KnownDocument, LiveDocument
from schemas.edges import Edge, EdgeKind
from schemas.errors import DamageFound
from schemas.fragment import GraphFragment
from schemas.ids import sha256_hex
from schemas.nodes import Chunk, Entity, Node
from schemas.records import node_to_record, stable_record, to_record

OTHER_BYTES = "the bytes kept are not those that readers see: newer ones came and were not published"
NO_BYTES = "its bytes are not kept"
WITHHELD = "its bytes are not kept, for the secrets in them"
OTHER_VERSION = "another version of the pipeline parsed it; the next run of its source parses it again"
NO_SOURCE = "the ledger does not know its source; a run of the source adds it"


def sample_documents(docs: Iterable[str], *, count: int, generation: int, seed: int) -> tuple[str, ...]:
    """Choose *count* documents by the hash of seed, generation and node id, in id order.

    The same index and seed give the same sample; another generation gives another, so that in time all are
    looked at.
    """
    ranked = sorted(docs, key=lambda doc: sha256_hex(f"{seed}:{generation}:{doc}"))
    return tuple(sorted(ranked[:count]))


def why_not_derived(
    live: LiveDocument, known: KnownDocument | None, *, versions: Collection[str] | None
) -> str | None:
    """Say why a document cannot be derived from bytes; None where it can be.

    *versions* are those that this program would parse its source with, None where the source is unknown.
    """
    if versions is None:
        return NO_SOURCE
    if known is None or known.raw_sha is None:
        return NO_BYTES
    if known.is_withheld:
        return WITHHELD
    if known.fragment_sha != live.fragment_sha or known.parsed_sha != known.raw_sha:
        return OTHER_BYTES
    return None if known.pipeline_version in versions else OTHER_VERSION


REDIRECTS = "redirects of the generation"
"""The source under whose name a scratch ledger has the addresses that lead elsewhere."""

_DOCUMENTS = 50


def split_derivable(
    scratch: Scratch, docs: Iterable[str]
) -> tuple[Mapping[str, KnownDocument], Mapping[str, str]]:
    """Return what the ledger knows of documents to derive, and why others cannot be, by node id."""
    derivable: dict[str, KnownDocument] = {}
    reasons: dict[str, str] = {}
    for source, live in _by_source(scratch.live[doc] for doc in sorted(docs)).items():
        known = scratch.held.ledger.documents.get(source, [one.uri for one in live])
        known_source = source in scratch.sources
        versions = document_versions(scratch.crawling(source).pipeline_version) if known_source else None
        for one in live:
            row = known.get(one.uri)
            why = why_not_derived(one, row, versions=versions)
            if why is None and row is not None:
                derivable[one.doc] = row
            elif why is not None:
                reasons[one.doc] = why
    return derivable, reasons


def is_of_bytes(live: LiveDocument) -> bool:
    """Whether a document came as bytes; a file of tools is read with the source file."""
    return not is_tools_url(live.uri)


def parse_in_scratch(scratch: Scratch, known: Mapping[str, KnownDocument]) -> Mapping[str, KnownDocument]:
    """Parse documents from their bytes; give the rows afterwards, by node id. What is parsed stays parsed."""
    ledger = scratch.index.ledger
    by_source: dict[str, dict[str, str]] = {}
    for doc, row in known.items():
        by_source.setdefault(row.source, {})[row.uri] = doc
    after: dict[str, KnownDocument] = {}
    for source, docs in sorted(by_source.items()):
        context = scratch.crawling(source)
        there = ledger.documents.get(source, docs)
        ledger.documents.save([_unparsed(known[doc]) for uri, doc in docs.items() if uri not in there])
        ledger.uses.save(source, scratch.held.ledger.uses.of(source, docs))
        ledger.translations.save(source, scratch.held.ledger.translations.of(source, docs))
        for part in batched(sorted(docs), _DOCUMENTS):
            parse_batch(context, part)
        after |= {docs[uri]: row for uri, row in ledger.documents.get(source, docs).items()}
    return after


def _unparsed(known: KnownDocument) -> KnownDocument:
    return replace(
        known,
        state=DocumentState.FETCHED,
        parsed_sha=None,
        fragment_sha=None,
        pipeline_version=None,
        location=None,
        refresh=None,
        failures=0,
        run_id=None,
        reason="",
    )


def settle_redirects(scratch: Scratch, parsed: Mapping[str, KnownDocument]) -> None:
    """Leave in the scratch ledger the parsed documents, and addresses that lead elsewhere as the generation
    has them.
    """
    documents = scratch.index.ledger.documents
    for source in (*scratch.sources, REDIRECTS):
        documents.forget(source)
    documents.save([replace(row, location=None) for row in parsed.values()])
    led = scratch.held.ledger.redirects.at(scratch.generation)
    documents.save(
        [
            KnownDocument(source=REDIRECTS, uri=uri, state=DocumentState.REDIRECTED, location=location)
            for uri, location in led.items()
        ]
    )


def compare_parsed(
    scratch: Scratch, before: Mapping[str, KnownDocument], after: Mapping[str, KnownDocument]
) -> Iterator[Deviation]:
    """Yield the documents whose bytes are lost, cannot be parsed, or give something else than they gave."""
    for doc, row in sorted(after.items()):
        live = scratch.live[doc]
        if what := _fault(scratch, live, before[doc], row):
            yield Deviation(table="documents", id=doc, what=what, doc=doc)


def _fault(scratch: Scratch, live: LiveDocument, before: KnownDocument, row: KnownDocument) -> str | None:
    if row.raw_sha is None:
        return f"what was fetched is missing or damaged (raw {(before.raw_sha or '')[:12]})"
    if row.fragment_sha is None:
        return f"cannot be parsed from its bytes: {row.reason or row.state.value}"
    if row.fragment_sha == live.fragment_sha:
        return None
    try:
        held = load_fragment(scratch.held, live.fragment_sha)
    except DamageFound as error:
        return f"parsed document {error.message}"
    derived = load_fragment(scratch.index, row.fragment_sha)
    one, other = _stable(held), _stable(derived)
    return None if one == other else f"parsed document: {differing_fields(one, other)}"


def _stable(fragment: GraphFragment) -> dict[str, object]:
    return {
        **to_record(fragment),
        "nodes": [stable_node(node) for node in fragment.nodes],
        "chunks": [stable_record(to_record(chunk)) for chunk in fragment.chunks],
    }


def stable_node(node: Node) -> dict[str, object]:
    """Return a node as a record that depends on content alone."""
    return stable_record(node_to_record(node))


def derived_live(live: LiveDocument, row: KnownDocument) -> LiveDocument:
    """Return a document of the generation, with what its bytes gave now."""
    assert row.fragment_sha is not None
    return replace(
        live,
        fragment_sha=row.fragment_sha,
        content_hash=row.content_hash or "",
        doc_id=row.doc_id,
    )


def _by_source(live: Iterable[LiveDocument]) -> dict[str, Sequence[LiveDocument]]:
    found: dict[str, list[LiveDocument]] = {}
    for one in live:
        found.setdefault(one.source, []).append(one)
    return dict(sorted(found.items()))


def add_to_nothing(scratch: Scratch, live: Mapping[str, LiveDocument], *, as_of: str) -> NextGeneration:
    """Return the generation as one that adds every document to an empty index."""
    return NextGeneration(run=scratch.resources.indexing(), base=0, changes=additions(live), as_of=as_of)


def compare_linked(scratch: Scratch, generation: NextGeneration, docs: Sequence[str]) -> Iterator[Deviation]:
    """Link documents again, and yield the rows and vectors of them that differ from those of the stores."""
    rows = link_documents(generation, docs).rows
    graph, store = scratch.held.graph.at(scratch.generation), scratch.held.chunks.at(scratch.generation)
    held_chunks = sorted(store.of_documents(docs), key=lambda chunk: chunk.id)
    entities = [node.id for node in rows.nodes if isinstance(node, Entity)]
    held_nodes = (*graph.nodes_of(docs), *graph.nodes(entities))
    yield from compare_rows(
        "nodes", *(_sorted(map(stable_node, nodes)) for nodes in (held_nodes, rows.nodes))
    )
    held_edges = (edge for edge in graph.edges_of(docs) if edge.kind not in DECIDED_ELSEWHERE)
    yield from compare_rows("edges", _records(held_edges), _records(rows.edges))
    yield from compare_rows("chunks", _records(held_chunks), _records(rows.chunks))
    yield from _vectors(scratch, rows)


def _vectors(scratch: Scratch, rows: RowChanges) -> Iterator[Deviation]:
    if not rows.chunks:
        return
    resources = scratch.resources
    resources.encoding().wait()
    texts = {text for chunk in rows.chunks for text in vector_texts(chunk)}
    encoded = scratch.vectors.fresh.get(texts)
    dim = resources.model.dim
    derived = {chunk.id: chunk_vectors(chunk, encoded, dim) for chunk in rows.chunks}
    held = scratch.held.chunks.at(scratch.generation).vectors(derived)
    yield from compare_vectors(rows.chunks, held, derived)


def _records(rows: Iterable[Edge | Chunk]) -> list[Record]:
    return _sorted(stable_record(to_record(row)) for row in rows)


def _sorted(records: Iterable[Record]) -> list[Record]:
    return sorted(records, key=lambda record: record["id"])


_CHUNKS = 5_000


def compare_similar(scratch: Scratch, docs: Collection[str]) -> Iterator[Deviation]:
    """Yield the chunks of *docs* whose nearest are others than the graph says; all chunks are looked at."""
    store = scratch.held.chunks.at(scratch.generation)
    chunks = list(store.scan())
    columns = joined(columns_of(part) for part in batched(chunks, _CHUNKS))
    rule = rule_of(scratch.index, scratch.resources.model)
    similarity = compare_chunks(
        nothing_similar(rule), columns, rule=rule, vectors=store.text_vectors, screen=open_screen
    ).similarity
    wanted = {chunk.id: chunk.doc for chunk in chunks if chunk.doc in docs}
    places = np.flatnonzero(np.isin(columns.ids, np.array([id_.encode() for id_ in wanted], np.bytes_)))
    derived = similar_rows(similarity, places)
    graph = scratch.held.graph.at(scratch.generation)
    held = held_rows(graph.edges_from(wanted, kinds=[EdgeKind.SIMILAR_TO]))
    for src, doc in sorted(wanted.items()):
        has, gives = (rows.get(src, ("", "", {}))[2] for rows in (held, derived))
        if has != gives:
            yield Deviation(table="edges", id=src, doc=doc, what=_what(dict(has), dict(gives)))


def _what(has: dict[str, int], gives: dict[str, int]) -> str:
    lacks, extra = sorted(gives.keys() - has.keys()), sorted(has.keys() - gives.keys())
    scored = sorted(end for end in has.keys() & gives.keys() if has[end] != gives[end])
    parts = (("lacks", lacks), ("should not lead to", extra), ("has another score to", scored))
    said = [f"{verb} {', '.join(ends[:2])}" for verb, ends in parts if ends]
    return f"similar_to: {'; '.join(said)}"
