"""Proof of a generation: its documents derived again from bytes, and compared with what the stores hold.

A sample is linked beside the store, as documents that are added to an empty index; all of them make a scratch
index of their own, whose export is compared.
"""

import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass

from flows.commit.restore import additions
from flows.commit.write import verify_generation, write_plan
from flows.derive.embed import embed_fragments
from flows.derive.freeze import freeze_rows, plan_rows
from flows.repair.compare import Deviation, Record, compare_rows, compare_vectors
from flows.repair.rederive import (
    add_to_nothing,
    compare_linked,
    compare_parsed,
    compare_similar,
    derived_live,
    is_of_bytes,
    parse_in_scratch,
    sample_documents,
    settle_redirects,
    split_derivable,
)
from flows.repair.scratch import Scratch, forget_older, open_scratch, scratch_folder
from flows.run.index import Index
from flows.run.values import Difference as Changes
from indexes.stores.ledger.fragment_rows import copy_fragment_rows
from ingest.urls import is_tools_url
from runtime.progress import StageProgress
from schemas.batches import batched
from schemas.documents import KnownDocument, LiveDocument

RowsOf = Callable[[Index, str, int], Iterator[Record]]
"""Rows of a table of a generation as `export --stable` gives them, in id order."""

TABLES = ("documents", "nodes", "edges", "chunks")
_LINKED = 50
_COMPARED = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """What came of a proof: which documents were derived, why others were not, what differs.

    `sample` is how many were asked for, None where all were; `undecided` are addresses with the reason.
    """

    sample: int | None
    seed: int
    documents: int
    derived: int
    undecided: tuple[tuple[str, str], ...]
    differences: tuple[Deviation, ...]


def prove_sample(index: Index, generation: int, *, count: int, seed: int, progress: StageProgress) -> Proof:
    """Derive *count* documents again, and compare rows, hashes, edges and vectors with the stores'."""
    with _opened(index, generation, f"sample-{count}-{seed}", progress) as scratch:
        ours = [doc for doc, live in scratch.live.items() if is_of_bytes(live)]
        chosen = sample_documents(ours, count=count, generation=generation, seed=seed)
        known, reasons = split_derivable(scratch, chosen)
        shas = {one.fragment_sha for doc, one in scratch.live.items() if doc not in known}
        copy_fragment_rows(index.ledger, scratch.index.ledger, shas)
        after, found = _parsed(scratch, known)
        live = _live(scratch, after)
        again = add_to_nothing(scratch, live, as_of=scratch.index.now())
        linked = [doc for doc in chosen if scratch.index.fragments.has(live[doc].fragment_sha)]
        progress.expect("link", len(linked))
        for docs in batched(linked, _LINKED):
            found += compare_linked(scratch, again, docs)
            progress.advance("link", len(docs))
        found += compare_similar(scratch, frozenset(chosen))
        return _proof(scratch, chosen, known, reasons, found, sample=count, seed=seed)


def prove_all(index: Index, generation: int, *, rows_of: RowsOf, progress: StageProgress) -> Proof:
    """Derive every document into a scratch index, and compare its export with that of the generation.

    What was parsed and encoded when it was interrupted is taken up by the next call.
    """
    with _opened(index, generation, "all", progress) as scratch:
        ours = [doc for doc, live in scratch.live.items() if is_of_bytes(live)]
        known, reasons = split_derivable(scratch, ours)
        others = {
            one.fragment_sha for doc, one in scratch.live.items() if doc in reasons or is_tools_url(one.uri)
        }
        copy_fragment_rows(index.ledger, scratch.index.ledger, others)
        after, found = _parsed(scratch, known)
        made = _build(scratch, _live(scratch, after))
        for table in TABLES:
            held, derived = rows_of(index, table, generation), rows_of(scratch.index, table, made)
            found += compare_rows(table, progress.over("compare", held), derived)
        found += _vectors(scratch, made)
        return _proof(scratch, ours, known, reasons, found, sample=None, seed=0)


def _opened(
    index: Index, generation: int, mode: str, progress: StageProgress
) -> AbstractContextManager[Scratch]:
    folder = scratch_folder(index, generation, mode=mode)
    forget_older(folder.parent, but=folder, now=index.clock.now().timestamp())
    return open_scratch(index, generation, folder, progress=progress, stop=threading.Event())


def _parsed(
    scratch: Scratch, known: Mapping[str, KnownDocument]
) -> tuple[Mapping[str, KnownDocument], list[Deviation]]:
    after = parse_in_scratch(scratch, known)
    found = list(compare_parsed(scratch, known, after))
    lost = {scratch.live[doc].fragment_sha for doc, row in after.items() if not row.fragment_sha}
    copy_fragment_rows(scratch.held.ledger, scratch.index.ledger, lost)
    settle_redirects(scratch, after)
    return after, found


def _live(scratch: Scratch, after: Mapping[str, KnownDocument]) -> dict[str, LiveDocument]:
    """The documents of the generation as their bytes give them; as they were, where those give nothing."""
    return {
        doc: derived_live(live, after[doc]) if doc in after and after[doc].fragment_sha else live
        for doc, live in scratch.live.items()
    }


def _build(scratch: Scratch, live: Mapping[str, LiveDocument]) -> int:
    """Write all rows into the scratch index by the steps of a first run; give its generation."""
    resources, index = scratch.resources, scratch.index
    run = resources.indexing()
    embed_fragments(run, sorted({one.fragment_sha for one in live.values() if is_of_bytes(one)}))
    changes = Changes(base=0, changes=tuple(additions(live).values()), documents={})
    as_of = index.now()
    with index.hold(progress=resources.progress, stop=resources.stop) as lease:
        planned = plan_rows(run, changes, as_of=as_of)
        made = freeze_rows(run, changes, planned, lease=lease, as_of=as_of, embedded=0)
        staged = write_plan(run, made, lease=lease)
        verify_generation(run, made, staged)
    return made.generation


def _vectors(scratch: Scratch, made: int) -> Iterator[Deviation]:
    held, derived = scratch.held.chunks.at(scratch.generation), scratch.index.chunks.at(made)
    for part in batched(derived.scan(), _COMPARED):
        ids = [chunk.id for chunk in part]
        yield from compare_vectors(part, held.vectors(ids), derived.vectors(ids))


def _proof(
    scratch: Scratch,
    chosen: Collection[str],
    known: Mapping[str, KnownDocument],
    reasons: Mapping[str, str],
    found: Iterable[Deviation],
    *,
    sample: int | None,
    seed: int,
) -> Proof:
    return Proof(
        sample=sample,
        seed=seed,
        documents=len(chosen),
        derived=len(known),
        undecided=tuple(sorted((scratch.live[doc].uri, why) for doc, why in reasons.items())),
        differences=tuple(dict.fromkeys(found)),
    )
