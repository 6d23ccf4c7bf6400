"""How an index is, read for those who watch it: nothing is written, and no lock of a run is waited for."""

from collections.abc import Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from indexes.check_record import load_record
from indexes.copies.marker import read_marker
from indexes.layout import IndexLayout
from indexes.manifest import IndexManifest, load_manifest
from indexes.publish.current import read_current
from indexes.publish.generation import GenerationManifest, load_generation, space_of
from indexes.publish.held import held_since
from schemas.errors import DamageFound, SitegraphError
from schemas.health import IndexHealth, LastRun, SourceStatus, TableHealth
from schemas.lineage import state_of_run

if TYPE_CHECKING:
    from indexes.stores.ledger.ledger import Ledger

_LANCE = "lance"


def name_of_index(root: Path) -> str:
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
        health = IndexHealth(index=name_of_index(self.index))
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
        from indexes.stores.lance.health import table_health
        from indexes.stores.lance.tables import CHUNKS, EDGES, NODES

        key = (manifest.index_id, generation)
        if self._tables is None or self._tables[0] != key:
            chunks = space_of(layout, manifest, generation).table
            names = (chunks, NODES, EDGES) if manifest.graph == _LANCE else (chunks,)
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
