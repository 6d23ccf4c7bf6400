"""How an index and its servers are, without writing: state, checks asked, maintenance due."""

import json
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from indexes.layout import LANCE, IndexLayout, IndexManifest, load_manifest
from indexes.markers import read_marker
from indexes.places import folder_bytes, is_in_bucket, write_durably
from indexes.publish.current import held_since, read_current
from indexes.publish.files import HASHED_BYTES, Damage, FileCheck, Stamps, stamp_files, table_folders
from indexes.publish.generation import GenerationManifest, load_generation, space_of
from indexes.table_files import discard_maintained, has_maintained, maintained_files_of, shape_of
from schemas.documents import state_of_run
from schemas.errors import DamageFound, SitegraphError
from schemas.health import (
    Figures,
    IndexHealth,
    LastRun,
    MaintenanceReport,
    SourceStatus,
    TableFigures,
    TableHealth,
)
from schemas.records import from_record, to_record
from schemas.report import CheckRecord

if TYPE_CHECKING:
    from indexes.stores.ledger.ledger import Ledger

NAME = "checks.json"


def save_record(layout: IndexLayout, record: CheckRecord) -> None:
    """Keep what a run found, in place of what the one before it found."""
    write_durably(layout.root / NAME, json.dumps(to_record(record), indent=2, sort_keys=True) + "\n")


def load_record(layout: IndexLayout) -> CheckRecord | None:
    """Return what the last run that asked found; None where none did, or it cannot be read."""
    try:
        return from_record(CheckRecord, json.loads((layout.root / NAME).read_bytes()))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def index_label(root: Path) -> str:
    """Name an index as its runs do: a copy by the URL that it comes from, any other by its folder."""
    with suppress(DamageFound):
        if (marker := read_marker(root)) is not None:
            return marker.url
    return str(root)


@dataclass
class HealthReader:
    """Reads an index again and again; of a generation, which never changes, the tables only once.

    `ledger_url` is the setting's.
    """

    index: Path
    ledger_url: str | None = None
    _tables: tuple[tuple[str, int], Mapping[str, TableHealth]] | None = field(default=None, init=False)

    def read(self, now: str) -> IndexHealth:
        """Read everything at *now*, ISO 8601; what cannot be read is left out, and `problem` says why."""
        # Drivers take a second to import: late, since nobody may ever ask.
        from indexes.own_ledger import open_own_ledger

        layout = IndexLayout(self.index)
        health = IndexHealth(index=index_label(self.index))
        try:
            manifest = load_manifest(layout)
            current = load_generation(layout, read_current(self.index))
            health = replace(
                health,
                generation=current.generation,
                published_at=current.as_of if current.generation else None,
                held_since=held_since(layout) or _held_by_checks(layout),
                tables=self._read_tables(layout, manifest, current.generation),
            )
            with closing(open_own_ledger(layout, self.ledger_url, read_only=True)) as ledger:
                return replace(health, sources=_sources(ledger, current, now=now))
        except (SitegraphError, OSError) as error:
            return replace(health, problem=str(error) or type(error).__name__)

    def _read_tables(
        self, layout: IndexLayout, manifest: IndexManifest, generation: int
    ) -> Mapping[str, TableHealth]:
        from indexes.stores.lance.store import table_health
        from indexes.stores.lance.tables import CHUNKS, EDGES, NODES

        key = (manifest.index_id, generation)
        if self._tables is None or self._tables[0] != key:
            chunks = space_of(layout, manifest, generation).table
            names = (chunks, NODES, EDGES) if manifest.graph == LANCE else (chunks,)
            found = table_health(layout.lance, names, generation=generation)
            # A change of model begins a table of another name; those who watch want one line of chunks.
            named = {CHUNKS if name == chunks else name: table for name, table in found.items()}
            self._tables = (key, named)
        return self._tables[1]


def _held_by_checks(layout: IndexLayout) -> str | None:
    """When questions held the publish of a run, and none has ended well since."""
    record = load_record(layout)
    return record.as_of if record is not None and record.counts.held else None


def _sources(ledger: "Ledger", current: GenerationManifest, *, now: str) -> Mapping[str, SourceStatus]:
    """Put together what the ledger and the manifest say; entities, which belong to no source, count as ''."""
    states, runs = ledger.documents.states(), ledger.runs.latest_reports()
    confirmed = ledger.health.confirmed(current.generation)
    due, failed, success = ledger.health.due(now), ledger.health.failed(), ledger.runs.last_finished()
    known = ledger.sources.all()
    held = ledger.leases.held(now=now)
    return {
        name: SourceStatus(
            states=states.get(name, {}),
            due=due.get(name, 0),
            failed=failed.get(name, {}),
            confirmed=confirmed.get(name, ()),
            slo=known[name].freshness.slo if name in known else None,
            rows={table: sum(kinds.values()) for table, kinds in current.sources.get(name, {}).items()},
            last_run=_last_run(runs.get(name), under_way=f"source:{name}" in held),
            last_success=success.get(name),
        )
        for name in sorted({*states, *current.sources, *known})
    }


def _last_run(run: Mapping[str, object] | None, *, under_way: bool) -> LastRun | None:
    if run is None:
        return None
    state, report = str(run["state"]), run["report"]
    finished = run["finished_at"]
    return LastRun(
        state=state_of_run(state, under_way=under_way),
        started_at=str(run["started_at"]),
        finished_at=str(finished) if finished else None,
        report=report if isinstance(report, Mapping) else {},
    )


def ask_neo4j(uri: str, user: str, password: str) -> None:
    """Log in to Neo4j and run a statement."""
    from indexes.stores.neo4j_.session import Connection

    connection = Connection(uri, user, password, retry_seconds=0.0)
    try:
        connection.read(lambda transaction: transaction.run("RETURN 1"))
    finally:
        connection.close()


def ask_ledger(url: str) -> None:
    """Connect to the ledger's database; makes no table."""
    from indexes.stores.ledger.engine import ask_database

    ask_database(url)


def ask_objects(url: str) -> None:
    """List what is under a name that nothing has, which a missing bucket or login refuses."""
    from indexes.wiring import open_object_store

    next(open_object_store(f"{url.rstrip('/')}/nothing-is-here").hashes(), None)


MIN_ROWS = 20_000
"""Below, a search of all rows without an index takes 180 ms (`table_upkeep.py`), however they lie."""
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
    return {folder.stem: shape_of(folder, generation) for folder in _folders(layout, manifest, generation)}


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
