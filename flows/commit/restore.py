"""A damaged index before a run: stores and ledger looked at, and made again from what is whole.

Everything in the stores follows from the parsed documents that the ledger names, and their vectors are in the
cache: so a damaged store is written from nothing, by the same steps as a first run, without fetching
anything.
"""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from pathlib import Path

from flows.commit.salvage import salvage_observed
from flows.derive.diff import LINKED_AGAIN
from flows.derive.link import forget_parsed_form
from flows.derive.tools import restore_tools
from flows.run.contexts import IndexContext
from flows.run.damage import IndexPart, damaged_rows, part_of
from flows.run.generations import lost_links
from flows.run.index import Index
from flows.run.values import Difference
from indexes.layout import remedy
from indexes.places import remove_tree
from indexes.publish.files import HASHED_BYTES, Damage, FileCheck, files_of_generation, table_folders
from indexes.publish.generation import GenerationManifest, generation_numbers, load_generation
from indexes.stores.ledger.fragment_rows import FragmentFacts, save_fragment_rows
from indexes.stores.ledger.generations import Generation, GenerationState
from indexes.table_files import unreadable_in
from indexes.wiring import create_stores
from ingest.link.naming import stated_names
from ingest.urls import file_url
from schemas.advice import ADVICE, Trouble
from schemas.batches import batched
from schemas.changes import ChangeKind, DocumentChange
from schemas.documents import LiveDocument
from schemas.errors import DamageFound
from schemas.fragment import GraphFragment
from schemas.nodes import Page, PdfDoc, Tool, is_document
from schemas.records import from_record
from schemas.report import Problem

REPAIR = "repair"
"""The source of a generation that repairs, and of the lease that it takes."""


class Repair(StrEnum):
    """What a run makes again: nothing, what links and clicks say of documents, or all rows of all stores."""

    NOTHING = "nothing"
    AUTHORITY = "authority"
    STORES = "stores"


_TOLD = {Repair.AUTHORITY: "made again", Repair.STORES: "all rows are written again"}


def choose_rebuild(damaged: Collection[str]) -> Repair:
    """Decide by the damaged files, or tables."""
    if not damaged:
        return Repair.NOTHING
    beside = {IndexPart.AUTHORITY, IndexPart.LINKS}
    return Repair.AUTHORITY if set(map(part_of, damaged)) <= beside else Repair.STORES


def look_for_damage(run: IndexContext, *, repair: bool, writes: bool) -> Repair:
    """See whether the files are there that readers open, as they were published; tell what is not.

    Sizes of all and hashes of HASHED_BYTES are compared; with *repair*, all hashes and all rows. *writes*:
    also what only stops who writes, which `look_before_writing` sees otherwise.
    Raises: DamageFound: the stores are damaged, and so is the ledger from which they could be made.
    """
    return _tell(run, find_damaged_files(run.index, repair=repair, writes=repair or writes))


def look_before_writing(run: IndexContext) -> Repair:
    """See whether the store can write its tables, as `look_for_damage` does for readers."""
    index = run.index
    if index.current() == 0:
        return Repair.NOTHING
    folders = table_folders(index.layout, index.manifest, index.chunks.space(index.current()))
    return _tell(run, tuple(_unwritable(index, folders)))


def _tell(run: IndexContext, found: Sequence[Damage]) -> Repair:
    index = run.index
    needed = choose_rebuild([path for path, _ in found])
    if needed is Repair.STORES:
        require_ledger(index)
    if found:
        (path, what), others = found[0], f", as {len(found) - 1} more" if len(found) > 1 else ""
        problem = Problem(url=path, reason=f"{what}{others}; {_TOLD[needed]}")
        index.ledger.runs.add_problems(run.run_id, [problem])
        run.progress.say(f"{problem.url} {problem.reason}")
    return needed


def find_damaged_files(index: Index, *, repair: bool = False, writes: bool = True) -> tuple[Damage, ...]:
    """Return what is damaged of the files that readers of the current generation open.

    *writes*: also what only stops who writes; to tell, the driver is imported, which takes over a second.
    """
    number = index.current()
    if number == 0:
        return ()
    described = load_generation(index.layout, number)
    found = FileCheck(index.layout.root, None if repair else HASHED_BYTES).damaged(described.files)
    if not described.files:  # published by an earlier version
        found = tuple(_missing(index, number))
    found = (*found, *_unreadable(index, writes=writes))
    if repair and (lost := lost_links(index, number)):
        found = (*found, (lost, "is missing or damaged"))
    return found or (damaged_rows(index, number) if repair else ())


def _unreadable(index: Index, *, writes: bool) -> Iterable[Damage]:
    """What is no file of the generation, and yet stops the store from opening or writing its tables."""
    folders = table_folders(index.layout, index.manifest, index.chunks.space(index.current()))
    for folder in folders:
        for name in unreadable_in(folder):
            yield (folder / name).relative_to(index.layout.root).as_posix(), "cannot be read"
    if writes:
        yield from _unwritable(index, folders)


def _unwritable(index: Index, folders: Iterable[Path]) -> Iterable[Damage]:
    for folder in folders:
        if folder.is_dir() and _is_unlistable(folder):
            yield folder.relative_to(index.layout.root).as_posix(), "has versions that cannot be read"


def _is_unlistable(folder: Path) -> bool:
    from indexes.stores.lance.tables import why_unlistable

    return why_unlistable(folder.parent, folder.stem) is not None


def _missing(index: Index, number: int) -> Iterable[Damage]:
    """The same of a generation whose files were not recorded: whether they are there."""
    try:
        paths = files_of_generation(index.layout, index.manifest, number, index.chunks.space(number))
    except DamageFound as error:
        return [(f"lance/{error.subject}.lance", "is missing or damaged")]
    held = (path for path in paths if part_of(path) is not IndexPart.AUTHORITY)
    return [(path, "is missing") for path in held if not (index.layout.root / path).is_file()]


def require_ledger(index: Index) -> None:
    """Raise DamageFound where the ledger does not know what the stores could be made again from."""
    number = index.current()
    live = index.ledger.generations.live(number).values()
    if index.ledger.generations.get(number) is None or any(not one.fragment_sha for one in live):
        raise DamageFound(
            "is damaged, and the ledger that it could be rebuilt from is lost; "
            f"{ADVICE[Trouble.PAST_REPAIR]}",
            subject=str(index.layout.root),
        )


def from_nothing(index: Index, difference: Difference) -> Difference:
    """Let the next generation add every document, of all sources, to an empty index.

    Raises: DamageFound: a parsed document is lost; the next run of its source parses it again.
    """
    after = dict(index.ledger.generations.live(difference.base))
    for change in difference.changes:
        after.pop(change.doc, None)
        if change.new is not None:
            after[change.doc] = change.new
    _require_fragments(index, after.values())
    observed = salvage_observed(index)
    for generation in index.ledger.generations.unfinished():
        index.ledger.generations.abort(generation.generation)
    return replace(difference, base=0, changes=tuple(additions(after).values()), observed=observed)


def additions(live: Mapping[str, LiveDocument]) -> dict[str, DocumentChange]:
    """Every document as one that is added."""
    return {
        doc: DocumentChange(kind=ChangeKind.ADDED, old=None, new=one) for doc, one in sorted(live.items())
    }


def _require_fragments(index: Index, live: Iterable[LiveDocument]) -> None:
    lost = [one for one in live if not index.fragments.has(one.fragment_sha)]
    if lost:
        forget_parsed_form(index, lost)
        sources = ", ".join(sorted({one.source for one in lost}))
        raise DamageFound(
            f"its parsed form is lost, as are the rows of the index; run its source ({sources}) again, which "
            f"parses it: {remedy(index.layout.root)}",
            subject=lost[0].uri,
        )


def empty_stores(index: Index) -> None:
    """Put empty tables in the place of damaged ones; a graph server is written over."""
    space = index.chunks.space(index.current())
    index.close_stores()
    for folder in table_folders(index.layout, index.manifest, space):
        remove_tree(folder)
    create_stores(index.layout, index.manifest, index.settings)


DocumentNode = Page | PdfDoc

_AT_ONCE = 100
"""Parsed documents whose rows are written together: each writing is several transactions."""


def restore_ledger(run: IndexContext) -> bool:
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
    for part in batched(index.fragments.hashes(), _AT_ONCE):
        read = ((sha, _read(index, sha, documents.keys())) for sha in part)
        ours = {sha: one for sha, one in read if one is not None and documents[one.doc] in one.nodes}
        found |= {fragment.doc: sha for sha, fragment in ours.items()}
        save_fragment_rows(index.ledger, {sha: _facts(fragment, manifest) for sha, fragment in ours.items()})
    return found


def _facts(fragment: GraphFragment, manifest: GenerationManifest) -> FragmentFacts:
    """What the ledger has of a parsed document; whether it seems to be none is judged when it is parsed."""
    return FragmentFacts(
        fragment=fragment,
        names=stated_names(fragment),
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
