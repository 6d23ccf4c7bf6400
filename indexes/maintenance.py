"""Whether maintenance of an index is due, read from its files alone, and what the last one reported."""

import json
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

from indexes.disk_use import folder_bytes
from indexes.layout import IndexLayout
from indexes.manifest import IndexManifest
from indexes.places import is_in_bucket, write_durably
from indexes.publish.current import read_current
from indexes.publish.files import HASHED_BYTES, Damage, FileCheck, Stamps, stamp_files, table_folders
from indexes.publish.generation import space_of
from indexes.table_files import discard_maintained, has_maintained, maintained_files_of, shape_of
from schemas.errors import SitegraphError
from schemas.maintenance import Figures, MaintenanceReport, TableFigures
from schemas.records import from_record, to_record

MIN_ROWS = 20_000
"""Below, a search of all rows without an index takes 180 ms (`stores/lance/upkeep.py`), however they lie."""
DUE_DELETED_SHARE, MIN_DELETED = 0.15, 5_000
"""Half of the share that lets a run take them out itself; and as many as a search may read one by one where
no index has them yet. One edit of a manual of 235 pages deletes 1,700 rows.
"""
DUE_FILES, DUE_SEGMENTS = 24, 8
"""Forty questions in nine segments of text took .27 CPU seconds instead of .15 in one."""


def why_due(tables: Mapping[str, TableFigures]) -> tuple[str, ...]:
    """Say why maintenance is due, one line a reason; empty: it is not. A run does without it, only dearer."""
    return tuple(reason for name, table in sorted(tables.items()) for reason in _reasons(name, table))


def _reasons(name: str, table: TableFigures) -> Iterator[str]:
    if table.rows < MIN_ROWS:
        return
    if table.deleted > max(DUE_DELETED_SHARE * table.rows, MIN_DELETED):
        yield f"{name}: {table.deleted} of {table.rows} rows in its files are deleted"
    if table.files > DUE_FILES:
        yield f"{name}: {table.files} files"
    if table.segments > DUE_SEGMENTS:
        yield f"{name}: {table.segments} segments in an index"


def tables_of(layout: IndexLayout, manifest: IndexManifest) -> dict[str, TableFigures]:
    """Describe the tables as the next run builds on them; none before the first generation.

    Raises: DamageFound: one cannot be read.
    """
    generation = read_current(layout.root)
    shapes = {folder.stem: shape_of(folder, generation) for folder in _folders(layout, manifest, generation)}
    return {
        name: TableFigures(files=one.files, rows=one.rows, deleted=one.deleted, segments=one.segments)
        for name, one in shapes.items()
    }


def due_of(layout: IndexLayout, manifest: IndexManifest) -> tuple[str, ...]:
    """Say why maintenance is due; nothing where the tables cannot be read, which others tell."""
    try:
        return why_due(tables_of(layout, manifest))
    except (SitegraphError, OSError):
        return ()


def figures_of(layout: IndexLayout, manifest: IndexManifest, *, ledger_bytes: int | None) -> Figures:
    """Describe an index; on a disk, with the bytes of its tables."""
    size = None if is_in_bucket(layout.root) else folder_bytes(layout.lance)
    return Figures(tables=tables_of(layout, manifest), table_bytes=size, ledger_bytes=ledger_bytes)


def write_report(layout: IndexLayout, manifest: IndexManifest, report: MaintenanceReport) -> None:
    """Keep the report of the last maintenance beside the index, with the hashes of the files that it made."""
    last = _last(layout)
    known = last[1] if last and last[0].id == report.id else {}
    files = stamp_files(layout.root, _maintained(layout, manifest, report.generation), known=known)
    record = {"report": to_record(report), "files": files}
    write_durably(layout.maintenance, json.dumps(record, indent=2, sort_keys=True) + "\n")


def last_report(layout: IndexLayout) -> MaintenanceReport | None:
    """The report of the last maintenance; None: there was none, or its file is damaged."""
    last = _last(layout)
    return None if last is None else last[0]


def discard_if_damaged(layout: IndexLayout, manifest: IndexManifest) -> tuple[Damage, ...]:
    """Let the next generation build on what readers see where files that maintenance made are damaged.

    For who holds the lease on the index, before it writes; compares as the start of a run does.
    """
    generation = read_current(layout.root)
    if not any(map(partial(has_maintained, generation=generation), _folders(layout, manifest, generation))):
        return ()
    last = _last(layout)
    known = last is not None and last[0].generation == generation
    found = FileCheck(layout.root, HASHED_BYTES).damaged(last[1]) if last and known else (_UNKNOWN,)
    if found:
        for folder in _folders(layout, manifest, generation):
            discard_maintained(folder, generation)
    return found


_UNKNOWN: Damage = ("maintenance.json", "does not say what maintenance made")


def _last(layout: IndexLayout) -> tuple[MaintenanceReport, Stamps] | None:
    try:
        record = json.loads(layout.maintenance.read_bytes())
        return from_record(MaintenanceReport, record["report"]), record["files"]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _maintained(layout: IndexLayout, manifest: IndexManifest, generation: int) -> Iterator[str]:
    for folder in _folders(layout, manifest, generation):
        names = maintained_files_of(folder, generation)
        yield from ((folder / name).relative_to(layout.root).as_posix() for name in names)


def _folders(layout: IndexLayout, manifest: IndexManifest, generation: int) -> tuple[Path, ...]:
    return table_folders(layout, manifest, space_of(layout, manifest, generation)) if generation else ()
