"""Before step 4: a ledger that was lost, or is older than its index, learns what readers see."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from flows.derive.tools import restore_tools
from flows.run.contexts import CommitContext
from flows.run.index import Index
from indexes.publish.generation import generation_numbers, load_generation
from indexes.stores.ledger.generations import Generation, GenerationState
from ingest.link.naming import names_of
from ingest.urls import file_url
from schemas.documents import LiveDocument
from schemas.errors import DamageFound
from schemas.fragment import GraphFragment
from schemas.nodes import Page, PdfDoc, Tool, is_document
from schemas.records import from_record

DocumentNode = Page | PdfDoc


def restore_ledger(run: CommitContext) -> bool:
    """Rebuild what the ledger should know of the current generation; whether that was needed.

    Needs the index lease. Of the run's own source no fragment is told, so that the diff takes every document
    up again: links may have been resolved through redirects that nobody remembers. Documents of other
    sources keep the fragment they were made of, or an empty one until their own run, where none is found.
    """
    index, current = run.index, run.index.current()
    if current == 0 or index.ledger.generations.get(current) is not None:
        return False
    run.progress.say(f"the ledger does not know generation {current}; rebuilding it from the graph")
    restore_from_graph(index, without=run.source.name)
    return True


def restore_from_graph(index: Index, *, without: str | None = None) -> None:
    """Tell the ledger what readers see, from the graph and the parsed documents that give its nodes.

    Of the source *without* no parsed document is told.
    """
    current = index.current()
    found = [
        node for node in index.graph.at(current).scan_nodes() if isinstance(node, Tool) or is_document(node)
    ]
    live = documents_of(index, [node for node in found if is_document(node)], without=without)
    index.ledger.generations.restore(_published(index, current), [*live, *restore_tools(index, found)])


def documents_of(
    index: Index, nodes: Sequence[DocumentNode], *, without: str | None = None
) -> tuple[LiveDocument, ...]:
    """Return documents as the current generation contains them, from their nodes; what they were parsed to is
    found by the nodes it gives, and its links and names are kept again.
    """
    others = {node.id: _as_parsed(node) for node in nodes if node.source != without}
    fragments, times = _find_fragments(index, others), _times(index, index.current())
    return tuple(_live(node, fragments.get(node.id, ""), times.get(node.id)) for node in nodes)


def _as_parsed(node: DocumentNode) -> DocumentNode:
    """The node without what was added later: its date, whether it is stale, and its other addresses."""
    return replace(node, last_modified=None, last_modified_origin=None, stale=False, aliases=())


def _published(index: Index, current: int) -> list[Generation]:
    """Rows for the current generation and, so that no number is used again, for those rolled back from."""
    numbers = [number for number in generation_numbers(index.layout) if number >= current]
    return [_row(index, number, current) for number in numbers]


def _row(index: Index, number: int, current: int) -> Generation:
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
        details={},
    )


def _find_fragments(index: Index, documents: Mapping[str, DocumentNode]) -> dict[str, str]:
    """Find the parsed file of each document by the node it gives; their links are indexed again."""
    found: dict[str, str] = {}
    for sha in index.fragments.hashes():
        fragment = _read(index, sha, documents.keys())
        if fragment is not None and documents[fragment.doc] in fragment.nodes:
            found[fragment.doc] = sha
            index.ledger.links.save([(sha, fragment)])
            index.ledger.names.save([(sha, names_of(fragment))])
            index.ledger.access.save({sha: fragment.access})
            index.ledger.matches.save({sha: fragment.matched})
    return found


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
