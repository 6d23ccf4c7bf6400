"""Maintenance of an index: what runs leave undone so that they cost no more than what changed.

Readers see nothing of it. Tables are compacted beside the versions that generations read, and the next run
builds on what came of it. A run needs none of it, and each step may be cut off and done again.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import sha256
from typing import Any, Protocol
from uuid import uuid4

from flows.commit.publish import prune_generations, sweep
from flows.run.generations import COLLECTION, require_current
from flows.run.index import Index
from flows.run.opening import open_existing
from indexes.health import discard_if_damaged, figures_of, why_due, write_report
from indexes.publish.files import FileCheck
from indexes.publish.generation import load_generation
from indexes.stores.ledger.leases import Lease
from runtime.progress import StageProgress
from runtime.readings import share_heaps
from runtime.settings import raise_gc_threshold
from schemas.documents import LiveDocument
from schemas.errors import DamageFound, StoreUnavailable
from schemas.health import MaintenanceReport, Sample
from schemas.records import to_record
from schemas.settings import Settings

SAMPLED_BYTES = 512 << 20
SAMPLED_DOCUMENTS = 200
"""What is compared with its hashes; another part of the index each time, unlike `verify`, which reads all."""


class StepRunner(Protocol):
    """Runs a step, which has a name."""

    def __call__(self, name: str, step: Callable[[], None], /) -> None:
        """Run it, and let its errors through."""


def run_step(_name: str, step: Callable[[], None]) -> None:
    """Run a step at once."""
    step()


def maintain_index(
    settings: Settings, *, dry_run: bool = False, quiet: bool = False, engine: StepRunner = run_step
) -> dict[str, Any]:
    """Compact tables, delete what nothing needs, vacuum the ledger, read a sample; give the report's record.

    With *dry_run* nothing is done but look. Waits for the index lease of a run that is publishing.

    Raises: ConfigError: there is no index; DamageFound: its manifest or ledger is lost; StaleLease: another
    has taken over; StoreUnavailable: a store does not answer.
    """
    share_heaps()
    raise_gc_threshold()
    with ExitStack() as stack:
        opened = open_existing(settings)
        stack.callback(opened.close)
        require_current(opened)
        opened.claim_ledger()
        progress = stack.enter_context(StageProgress(quiet=quiet))
        maintenance = Maintenance(opened, progress, _begun(opened, dry_run=dry_run))
        for name, step in {} if dry_run else maintenance.steps().items():
            engine(name, partial(maintenance.timed, name, step))
        report = maintenance.end()
        if not dry_run:
            write_report(opened.layout, opened.manifest, report)
        return to_record(report)


def _begun(index: Index, *, dry_run: bool) -> MaintenanceReport:
    before = figures_of(index.layout, index.manifest, ledger_bytes=index.ledger.bytes())
    return MaintenanceReport(
        id=uuid4().hex,
        generation=index.current(),
        started_at=index.now(),
        dry_run=dry_run,
        due=why_due(before.tables),
        before=before,
        after=before,
    )


@dataclass
class Maintenance:
    """One maintenance under way: its steps, and the report that they add to."""

    index: Index
    progress: StageProgress
    report: MaintenanceReport
    stop: threading.Event = field(default_factory=threading.Event)
    cpu: float = field(default_factory=time.process_time)

    def steps(self) -> dict[str, Callable[[], None]]:
        """All steps by name, in order; each may be repeated."""
        return {"compact": self.compact, "sweep": self.sweep, "vacuum": self.vacuum, "sample": self.sample}

    def timed(self, name: str, step: Callable[[], None]) -> None:
        """Do a step, and keep how long it took."""
        began = self.index.clock.monotonic()
        step()
        seconds = round(self.index.clock.monotonic() - began, 3)
        self.report = replace(self.report, steps={**self.report.steps, name: seconds})

    def compact(self) -> None:
        """Leave the next run tables in few files, with indexes in one segment; readers keep theirs."""
        with self._alone() as lease:
            if not (generation := self.index.current()):
                return
            require_current(self.index)
            if unfinished := self.index.ledger.generations.unfinished():
                numbers = ", ".join(str(one.generation) for one in unfinished)
                self._skip(f"compact: a run left generation {numbers} unfinished; the next run ends it")
                return
            discard_if_damaged(self.index.layout, self.index.manifest)
            fence = partial(self.index.ledger.leases.check, lease)
            self.index.chunks.writer().maintain(generation, fence=fence)
            self.index.graph.writer().maintain(generation, fence=fence)
            # Without the hashes of what was made, the next run does not build on it.
            self.report = replace(self.report, generation=generation)
            write_report(self.index.layout, self.index.manifest, self.report)

    def sweep(self) -> None:
        """Delete files that no document and no kept generation needs; not beside a crawl."""
        with self._alone():
            if others := self._others():
                self._skip(f"sweep: {others} at work; its files are named by nothing yet")
            elif self.index.ledger.generations.unfinished():
                self._skip("sweep: a run left a generation unfinished; the next run ends it")
            elif self.index.current():
                swept = prune_generations(self.index, source="") + sweep(self.index)
                self.report = replace(self.report, swept=swept)

    def vacuum(self) -> None:
        """Give back the room of deleted rows of the ledger; not beside a crawl, which would wait for it."""
        with self._alone():
            if others := self._others():
                self._skip(f"vacuum: {others} at work")
                return
            try:
                self.index.ledger.vacuum()
            except StoreUnavailable as error:
                self._skip(f"vacuum: {error}")

    def sample(self) -> None:
        """Compare a part of what readers see with its hashes; needs no lease."""
        generation = self.index.current()
        if not generation:
            return
        described = load_generation(self.index.layout, generation)
        sizes = {path: int(stamp.partition(":")[0]) for path, stamp in described.files.items()}
        chosen = _choose_within(sizes, seed=self.report.id, most=SAMPLED_BYTES)
        check = FileCheck(self.index.layout.root)
        damage = list(check.damaged({path: described.files[path] for path in chosen}))
        live = self.index.ledger.generations.live(generation)
        docs = _choose_within(dict.fromkeys(live, 1), seed=self.report.id, most=SAMPLED_DOCUMENTS)
        damage += [fault for doc in docs if (fault := self._fault(live[doc]))]
        self.report = replace(
            self.report, sample=Sample(files=len(chosen), documents=len(docs), damage=tuple(damage))
        )

    def end(self) -> MaintenanceReport:
        """Return the report, with how the index is now."""
        index = self.index
        after = figures_of(index.layout, index.manifest, ledger_bytes=index.ledger.bytes())
        return replace(self.report, after=after, cpu_seconds=round(time.process_time() - self.cpu, 2))

    @contextmanager
    def _alone(self) -> Iterator[Lease]:
        """Hold the index lease for one step, so that a run that wants to publish waits for no other."""
        with self.index.hold(progress=self.progress, stop=self.stop) as held:
            yield held

    def _others(self) -> str:
        now = self.index.clock.now().isoformat(timespec="milliseconds")
        return ", ".join(sorted(self.index.ledger.leases.held(now=now) - {"index", COLLECTION}))

    def _skip(self, reason: str) -> None:
        self.report = replace(self.report, skipped=(*self.report.skipped, reason))
        self.progress.say(reason)

    def _fault(self, document: LiveDocument) -> tuple[str, str] | None:
        try:
            self.index.fragments.get(document.fragment_sha)
        except DamageFound as error:
            return document.uri, f"parsed document {error.message}"
        return None


def _choose_within(sizes: dict[str, int], *, seed: str, most: int) -> tuple[str, ...]:
    """Choose names whose sizes add up to *most* at most, or one; others by another *seed*; in order."""
    chosen: list[str] = []
    total = 0
    for name in sorted(sizes, key=lambda name: sha256(f"{seed}:{name}".encode()).digest()):
        if chosen and total + sizes[name] > most:
            continue
        chosen.append(name)
        total += sizes[name]
    return tuple(sorted(chosen))
