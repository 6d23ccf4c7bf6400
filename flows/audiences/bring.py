"""Bytes, parsed documents and their ledger rows of the whole index, brought into an audience's."""

import os
from collections.abc import Collection
from pathlib import Path

from flows.audiences.visible import VisibleRows, bytes_to_bring
from flows.run.index import Index
from indexes.manifest import FILES
from indexes.ports import RawStore
from indexes.stores.ledger.fragment_rows import copy_fragment_rows
from indexes.stores.packing import place_of
from schemas.errors import DamageFound
from schemas.source import Source


def bring_rows(whole: Index, index: Index, planned: VisibleRows, source: Source) -> None:
    """Give an audience the rows of a source that it may have, and their files before them."""
    ledger = index.ledger
    raw, fragments = bytes_to_bring(planned.bring)
    bring_fragments(whole, index, raw=raw, fragments=fragments)
    if planned.remove:
        ledger.documents.remove(source.name, planned.remove)
    if planned.save:
        ledger.documents.save(planned.save)
    if planned.rows and ledger.sources.all().get(source.name) != source:
        ledger.sources.save(source)


def bring_fragments(whole: Index, index: Index, *, raw: Collection[str], fragments: Collection[str]) -> None:
    """Bring files that the audience lacks, and what the ledger has of the parsed documents."""
    linked = whole.manifest.raw == index.manifest.raw == FILES
    here, there = index.layout, whole.layout
    _bring(whole.fragments, index.fragments, fragments, (there.fragments, here.fragments) if linked else None)
    _bring(whole.raw, index.raw, raw, (there.raw, here.raw) if linked else None)
    copy_fragment_rows(whole.ledger, index.ledger, fragments)
    origins = whole.ledger.origins.of_fragments(fragments)
    index.ledger.origins.save(origins)
    drawn = {sha for sha in origins.values() if sha is not None}
    _bring(whole.raw, index.raw, drawn - {*raw}, (there.raw, here.raw) if linked else None)


def _bring(
    source: RawStore, target: RawStore, hashes: Collection[str], folders: tuple[Path, Path] | None
) -> None:
    for sha256 in sorted(hashes):
        if target.has(sha256) or (folders is not None and _link(*folders, sha256) and target.has(sha256)):
            continue
        try:
            target.put(source.get(sha256))
        except DamageFound:
            continue  # a run of the whole index fetches or parses it again


def _link(source: Path, target: Path, sha256: str) -> bool:
    """Give a file a second name, which takes no room: both stores write a file once, under its hash."""
    name = target / place_of(sha256)
    try:
        name.parent.mkdir(parents=True, exist_ok=True)
        name.unlink(missing_ok=True)
        os.link(source / place_of(sha256), name)
    except OSError:
        return False  # of another file system, or without such names: it is copied
    return True
