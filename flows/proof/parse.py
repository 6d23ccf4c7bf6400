"""Documents parsed again from their bytes, in a scratch index, and compared with what was parsed before."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from flows.crawl.parse import parse_batch
from flows.proof.compare import Deviation, differing_fields
from flows.proof.sample import why_not_derived
from flows.proof.scratch import Scratch
from flows.run.batches import cut
from flows.run.fragments import load_fragment
from ingest.parse.formats.registry import document_versions
from ingest.urls import is_tools_url
from schemas.documents import DocumentState, KnownDocument, LiveDocument
from schemas.errors import DamageFound
from schemas.fragment import GraphFragment
from schemas.nodes import Node
from schemas.records import node_to_record, to_record
from schemas.stable_record import stable_record

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


def parse_again(scratch: Scratch, known: Mapping[str, KnownDocument]) -> Mapping[str, KnownDocument]:
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
        for part in cut(sorted(docs), _DOCUMENTS):
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
