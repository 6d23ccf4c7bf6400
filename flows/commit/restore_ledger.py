"""Before a crawl: a ledger that was lost, or is older than its index, learns what readers see."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice

from flows.derive.diff import LINKED_AGAIN
from flows.derive.tools import restore_tools
from flows.run.contexts import CommitContext
from flows.run.index import Index
from indexes.publish.generation import GenerationManifest, generation_numbers, load_generation
from indexes.stores.ledger.fragment_rows import FragmentFacts, save_fragment_rows
from indexes.stores.ledger.generations import Generation, GenerationState
from ingest.link.naming import names_of
from ingest.urls import file_url
from schemas.documents import LiveDocument
from schemas.errors import DamageFound
from schemas.fragment import GraphFragment
from schemas.nodes import Page, PdfDoc, Tool, is_document
from schemas.records import from_record

DocumentNode = Page | PdfDoc

_AT_ONCE = 100
"""Parsed documents whose rows are written together: each writing is several transactions."""


def restore_ledger(run: CommitContext) -> bool:
    """Rebuild what the ledger should know of the current generation; whether that was needed.

    Needs the index lease. The diff takes every document of the run's own source up again: links may have been
    resolved through redirects that nobody remembers. Documents have the fragment they were made of, or, where
    none is found, an empty one until the run of their source.
    """
    index, current = run.index, run.index.current()
    if current == 0 or index.ledger.generations.get(current) is not None:
        return False
    run.progress.say(f"the ledger does not know generation {current}; rebuilding it from the graph")
    restore_from_graph(index, linked_again=run.source.name)
    return True


def restore_from_graph(index: Index, *, linked_again: str | None = None) -> None:
    """Tell the ledger what readers see, from the graph and the parsed documents that give its nodes.

    All documents of the source *linked_again* are to be linked by its next run.
    """
    current = index.current()
    found = [
        node for node in index.graph.at(current).scan_nodes() if isinstance(node, Tool) or is_document(node)
    ]
    live = documents_of(index, [node for node in found if is_document(node)])
    rows = _published(index, current, {LINKED_AGAIN: linked_again} if linked_again else {})
    index.ledger.generations.restore(rows, [*live, *restore_tools(index, found)])


def documents_of(index: Index, nodes: Sequence[DocumentNode]) -> tuple[LiveDocument, ...]:
    """Return documents as the current generation contains them, from their nodes; what they were parsed to is
    found by the nodes it gives, and all that the ledger has of it is kept again.
    """
    parsed = {node.id: _as_parsed(node) for node in nodes}
    fragments, times = _find_fragments(index, parsed), _times(index, index.current())
    return tuple(_live(node, fragments.get(node.id, ""), times.get(node.id)) for node in nodes)


def _as_parsed(node: DocumentNode) -> DocumentNode:
    """The node without what was added later: its date, whether it is stale, and its other addresses."""
    return replace(node, last_modified=None, last_modified_origin=None, stale=False, aliases=())


def _published(index: Index, current: int, details: Mapping[str, str]) -> list[Generation]:
    """Rows for the current generation and, so that no number is used again, for those rolled back from."""
    numbers = [number for number in generation_numbers(index.layout) if number >= current]
    return [_row(index, number, current, details) for number in numbers]


def _row(index: Index, number: int, current: int, details: Mapping[str, str]) -> Generation:
    manifest = load_generation(index.layout, number)
    return Generation(
        generation=number,
        base=manifest.base,
        state=GenerationState.PUBLISHED if number == current else GenerationState.ROLLED_BACK,
        source=manifest.source,
        run_id=manifest.run_id,
        token=0,
        as_of=manifest.as_of,
        plan_sha=manifest.plan_sha,
        details=details,
    )


def _find_fragments(index: Index, documents: Mapping[str, DocumentNode]) -> dict[str, str]:
    """Find the parsed file of each document by the node it gives, and keep what the ledger has of it."""
    found: dict[str, str] = {}
    manifest = load_generation(index.layout, index.current())
    hashes = iter(index.fragments.hashes())
    while part := tuple(islice(hashes, _AT_ONCE)):
        read = ((sha, _read(index, sha, documents.keys())) for sha in part)
        ours = {sha: one for sha, one in read if one is not None and documents[one.doc] in one.nodes}
        found |= {fragment.doc: sha for sha, fragment in ours.items()}
        save_fragment_rows(index.ledger, {sha: _facts(fragment, manifest) for sha, fragment in ours.items()})
    return found


def _facts(fragment: GraphFragment, manifest: GenerationManifest) -> FragmentFacts:
    """What the ledger has of a parsed document; whether it seems to be none is judged when it is parsed."""
    return FragmentFacts(
        fragment=fragment,
        names=names_of(fragment),
        raw_sha=manifest.pdfs.get(fragment.doc),
        pages_sha=manifest.pages.get(fragment.doc),
        is_judged=False,
    )


def _read(index: Index, sha: str, docs: Iterable[str]) -> GraphFragment | None:
    """The fragment, if it is whole, of this version, and of one of the documents."""
    try:
        record = json.loads(index.fragments.get(sha))
        return from_record(GraphFragment, record) if record["doc"] in docs else None
    except (DamageFound, ValueError, KeyError, TypeError):
        return None


def _times(index: Index, current: int) -> dict[str, str]:
    """When the bytes of each document came, by its newest passage."""
    times: dict[str, str] = {}
    for chunk in index.chunks.at(current).scan():
        if chunk.fetched_at and chunk.fetched_at > times.get(chunk.doc, ""):
            times[chunk.doc] = chunk.fetched_at
    return times


def _live(node: DocumentNode, fragment_sha: str, fetched_at: str | None) -> LiveDocument:
    return LiveDocument(
        doc=node.id,
        source=node.source,
        uri=file_url(node.source, node.path) if node.path else node.url or "",
        fragment_sha=fragment_sha,
        content_hash=node.content_hash,
        doc_id=node.doc_id,
        fetched_at=fetched_at,
        last_modified=node.last_modified,
        last_modified_origin=node.last_modified_origin,
        stale=node.stale,
        aliases=node.aliases,
    )
