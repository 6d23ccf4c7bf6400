"""`sitegraph repair`: what differs between the stores of an index is made whole from what is whole."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from flows.commit.publish import show_current
from flows.commit.recover import finish_interrupted
from flows.commit.restore import REPAIR
from flows.repair.in_place import (
    more_damage,
    restore_authority,
    restore_documents,
    restore_fragment_rows,
    restore_fragments,
    restore_ledger_of,
    restore_links,
    restore_similar,
    restore_vectors,
)
from flows.repair.rows import publish_all_rows, publish_difference
from flows.run.create_index import damaged_pointers, restore_pointers
from flows.run.damage import (
    NEW_GENERATION,
    IndexPart,
    RepairStep,
    find_by_part,
    ledger_faults,
    ledger_is_lost,
    plan_repair,
    worth_trying,
)
from flows.run.index import Index
from flows.run.leases import check_hold
from flows.run.opening import hold_source, open_existing
from flows.run.resources import Resources
from flows.run.values import Run
from indexes.layout import IndexLayout
from indexes.own_ledger import ledger_url_of
from indexes.places import place_of
from indexes.publish.files import Damage
from indexes.stores.ledger.leases import Lease
from runtime.progress import StageProgress
from schemas.advice import ADVICE, Trouble
from schemas.errors import DamageFound, SchemaMismatch
from schemas.settings import Settings
from schemas.source import Source

_ROUNDS = 6
"""A ledger, then what it names, then rows by difference, then all rows: nothing takes more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Repaired:
    """What a repair planned or did, the generations it published, and what is still damaged.

    `complete` is false of a plan beyond whose steps nothing can be told before they are taken.
    """

    generation: int
    steps: tuple[RepairStep, ...]
    complete: bool = True
    published: tuple[int, ...] = ()
    left: tuple[Damage, ...] = ()


@dataclass(kw_only=True)
class _Work:
    """A repair that goes on: what was taken, what it published, and whether tables are as published."""

    resources: Resources
    lease: Lease
    rows: bool
    taken: list[RepairStep]
    published: list[int]
    tables_are_whole: bool = True

    def found(self) -> tuple[RepairStep, ...]:
        """Look at everything, and decide what is to be done."""
        return _look(self.resources, rows=self.rows)


def plan_repair_of(settings: Settings, *, rows: bool, progress: StageProgress) -> Repaired:
    """Say what a repair would do; nothing is changed."""
    pointers = damaged_pointers(settings)
    if pointers:
        damage = tuple((name, "is missing or damaged") for name in pointers)
        return _first_of_a_plan(IndexPart.POINTERS, damage)
    if ledger := _broken_ledger(settings, makes_ledger=False):
        return _first_of_a_plan(IndexPart.LEDGER, (ledger,))
    index = open_existing(settings)
    with closing(_resources(index, progress)) as resources:
        steps = _look(resources, rows=rows)
        left = tuple(damage for step in steps for damage in step.damage)
        return Repaired(generation=index.current(), steps=steps, left=left)


def _first_of_a_plan(part: IndexPart, damage: tuple[Damage, ...]) -> Repaired:
    """What leads to everything else: of that nothing can be said before it is whole."""
    step = RepairStep(part=part, damage=damage)
    return Repaired(generation=0, steps=(step,), left=damage, complete=False)


def repair_index(settings: Settings, *, rows: bool, quiet: bool) -> Repaired:
    """Make an index whole, as far as what is whole tells how; a second call finds nothing to do.

    Raises: DamageFound: what readers see is lost in every store that could tell it; PublishHeld: a generation
    would be published while that is held.
    """
    restored = restore_pointers(settings)
    aside = _set_ledger_aside(settings)
    index = open_existing(settings, makes_ledger=True)
    taken = [_pointers(restored)] if restored else []
    taken += [RepairStep(part=IndexPart.LEDGER, damage=(aside,))] if aside else []
    with _working(index, quiet=quiet) as (resources, lease):
        work = _Work(resources=resources, lease=lease, rows=rows, taken=taken, published=[])
        steps = work.found()
        if not any(step.part in (IndexPart.LEDGER, IndexPart.TABLES) for step in steps):
            work.published += finish_interrupted(resources.indexing(), lease=lease)
        for _ in range(_ROUNDS):
            now = worth_trying(steps, work.taken)
            if not now:
                break
            _refuse_if_lost(index, steps)
            work.tables_are_whole = not any(step.part is IndexPart.TABLES for step in steps)
            for step in now:
                _take(work, step)
            work.rows = False
            steps = work.found()
        left = tuple(damage for step in steps for damage in step.damage)
        return Repaired(
            generation=index.current(),
            steps=(*work.taken, *(step for step in steps if step.part is IndexPart.BYTES)),
            published=tuple(work.published),
            left=left,
        )


def _look(resources: Resources, *, rows: bool) -> tuple[RepairStep, ...]:
    index = resources.index
    found = find_by_part(index, index.current(), progress=resources.progress)
    more = more_damage(resources, tables_are_whole=IndexPart.TABLES not in found)
    return plan_repair(found, more=more, rows=rows)


def _take(work: _Work, step: RepairStep) -> None:
    """Do one step; what it could not do is found again afterwards."""
    resources, index = work.resources, work.resources.index
    resources.progress.say(f"{step.part.value}: {step.how}")
    work.taken.append(step)
    if step.part in NEW_GENERATION:
        check_hold(index.layout)
    acts: Mapping[IndexPart, Callable[[], object]] = {
        IndexPart.LEDGER: partial(restore_ledger_of, resources),
        IndexPart.DOCUMENTS: partial(restore_documents, resources),
        IndexPart.FRAGMENTS: partial(restore_fragments, resources),
        IndexPart.LEDGER_ROWS: partial(restore_fragment_rows, resources),
        IndexPart.VECTORS: partial(restore_vectors, resources, tables_are_whole=work.tables_are_whole),
        IndexPart.ENCODER: partial(resources.export_encoder, read_all=True),
        IndexPart.LINKS: partial(_in_place, work, restore_links),
        IndexPart.AUTHORITY: partial(_in_place, work, restore_authority),
        IndexPart.SIMILAR: partial(_in_place, work, restore_similar),
        IndexPart.ROWS: partial(_publish, work, anyway=False),
        IndexPart.TABLES: partial(_publish_all, work),
        IndexPart.VIEW: partial(show_current, index),
    }
    if step.part in acts:
        acts[step.part]()


def _in_place(work: _Work, restore: Callable[[Resources], bool]) -> None:
    """Make one file again; where it is not the one that was published, a generation goes with it."""
    if not restore(work.resources):
        _publish(work, anyway=True)


def _publish(work: _Work, *, anyway: bool) -> None:
    """Publish the difference; where the stores do not take it, the next round writes all rows."""
    check_hold(work.resources.index.layout)
    try:
        made = publish_difference(work.resources, work.lease, anyway=anyway)
    except (DamageFound, SchemaMismatch, ValueError, LookupError, TypeError) as error:
        work.resources.progress.say(f"the difference is not enough: {error}")
        return
    if made is not None:
        work.published.append(made)


def _publish_all(work: _Work) -> None:
    work.published.append(publish_all_rows(work.resources, work.lease))


def _refuse_if_lost(index: Index, steps: Sequence[RepairStep]) -> None:
    """Raise where neither the ledger nor the tables can tell what readers see."""
    if ledger_is_lost(steps):
        raise DamageFound(
            "its tables are damaged, and the ledger that they could be rebuilt from is lost; "
            f"{ADVICE[Trouble.PAST_REPAIR]}",
            subject=str(index.layout.root),
        )


def _pointers(restored: Sequence[str]) -> RepairStep:
    damage = tuple((name, "was missing or damaged") for name in restored)
    return RepairStep(part=IndexPart.POINTERS, damage=damage)


def _resources(index: Index, progress: StageProgress) -> Resources:
    run = Run(index=str(index.layout.root), source=REPAIR, run_id="")
    return Resources(run, index=index, source=Source(name=REPAIR, kind="files"), progress=progress)


@contextmanager
def _working(index: Index, *, quiet: bool) -> Iterator[tuple[Resources, Lease]]:
    with ExitStack() as stack:
        held = stack.enter_context(hold_source(index, REPAIR, quiet=quiet))
        resources = _resources(index, held.progress)
        resources.stop = held.stop
        stack.enter_context(closing(resources))
        yield resources, stack.enter_context(index.hold(progress=held.progress, stop=held.stop))


def _broken_ledger(settings: Settings, *, makes_ledger: bool) -> Damage | None:
    """What is wrong with the file of a ledger, or that there is none; None where nothing is."""
    index = open_existing(settings, makes_ledger=makes_ledger)
    try:
        return next(ledger_faults(index), None)
    except DamageFound as error:
        return "ledger", error.message
    finally:
        index.close()


def _set_ledger_aside(settings: Settings) -> Damage | None:
    """Give a broken ledger another name; nothing is deleted, and a new one is made in its place."""
    broken = _broken_ledger(settings, makes_ledger=True)
    if broken is None:
        return None
    url = ledger_url_of(IndexLayout(place_of(settings)), settings.ledger_url)
    file, stamp = Path(url.removeprefix("sqlite:///")), int(time.time())
    for path in sorted(file.parent.glob(f"{file.name}*")):
        if ".damaged-" not in path.name:
            path.rename(path.with_name(f"{path.name}.damaged-{stamp}"))
    return broken
