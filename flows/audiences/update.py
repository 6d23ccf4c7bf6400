"""Audiences brought up to date with the whole index, declared and dropped.

docs/decisions/0034-an-index-per-audience.md says why each has an index of its own, and what holds at every
moment.
"""

import threading
from collections.abc import Collection, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from shutil import rmtree
from uuid import uuid4

from flows.audiences.bring import (
    Closings,
    bring_rows,
    closings_of,
    has_hidden_tools,
    plan_narrowed,
    plan_rows_of,
    problems_of_closings,
    publish_source,
    resources_for,
    shown_source,
    tools_differ,
    tools_seen,
)
from flows.audiences.open import declare_audience, is_in_force, is_stated, mark_made, marker_of, open_audience
from flows.audiences.visible import VisibleRows
from flows.commit.publish import prune_generations
from flows.derive.diff import families_differ
from flows.run.index import Index
from flows.run.leases import check_hold
from flows.run.resources import Resources
from flows.run.values import Run
from indexes.layout import LANCE
from indexes.markers import AUDIENCE_FILE, Audience, audiences_of, has_audiences, write_audience_marker
from indexes.stores.ledger.leases import Lease
from runtime.progress import StageProgress
from schemas.access import PUBLIC, Groups, audience_name, groups_of_audience, is_open
from schemas.errors import ConfigError
from schemas.fragment import GraphFragment
from schemas.source import Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Updated:
    """An audience, and the generations that were made of it."""

    name: str
    generations: tuple[int, ...]


def withdraw_narrowed(whole: Resources, *, sources: Collection[str]) -> tuple[Updated, ...]:
    """Bring those audiences up to date that see a document which they may see no more.

    For whoever holds the index lease, before anything is published: what was narrowed is gone from all
    audiences before readers of the whole index see the change that says so.
    """
    if not is_in_force(whole.index):
        return ()
    _declare_public(whole.index)
    closings = closings_of(whole.index)
    every = audiences_of(whole.index.layout.root)
    narrowed = [one for one in every if _is_narrowed(whole, one, sources, closings)]
    return tuple(_update(whole, one, sources, closings, made_from=one.made_from) for one in narrowed)


def update_audiences(
    whole: Resources, *, sources: Collection[str], names: Collection[str] | None = None
) -> tuple[Updated, ...]:
    """Bring all audiences, or those of *names*, up to date with what readers of the whole index see.

    Of sources other than *sources* an audience only gets those that it has nothing of. For whoever holds the
    index lease and the leases of *sources*. Nothing is done where nothing says who may see what.
    """
    if not is_in_force(whole.index):
        return ()
    _declare_public(whole.index)
    current, closings = whole.index.current(), closings_of(whole.index)
    if whole.run.run_id:
        problems = problems_of_closings(whole.source, closings)
        whole.index.ledger.runs.add_problems(whole.run.run_id, problems)
    wanted = [one for one in audiences_of(whole.index.layout.root) if names is None or one.name in names]
    return tuple(_update(whole, one, sources, closings, made_from=current) for one in wanted)


def drop_from_audiences(whole: Resources, name: str) -> None:
    """Take a source out of every audience, before it is taken out of the whole index."""
    source = whole.index.ledger.sources.all().get(name, Source(name=name, kind="files"))
    for audience in audiences_of(whole.index.layout.root):
        with open_audience(whole.index, audience) as index, _leased(whole, index) as lease:
            held = tuple(document.uri for document in index.ledger.documents.of_source(name))
            planned = VisibleRows(rows=(), save=(), bring=(), remove=held, hidden=(), changes=bool(held))
            _update_source(whole, audience, index, source, planned, (), lease=lease)


def _declare_public(index: Index) -> None:
    """Whoever reads over a network without groups is to find an audience, and not the whole index.

    Where only uses narrow audiences, everybody may see the whole index.
    """
    if is_stated(index) or has_audiences(index.layout.root):
        declare_audience(index, frozenset())


def _is_narrowed(whole: Resources, audience: Audience, sources: Collection[str], closings: Closings) -> bool:
    if marker_of(audience).purge:
        return True
    with open_audience(whole.index, audience) as index:
        known = whole.index.ledger.sources.all().values()
        return any(_hides(whole.index, index, audience, one, sources, closings) for one in known)


def _hides(
    whole: Index,
    index: Index,
    audience: Audience,
    source: Source,
    sources: Collection[str],
    closings: Closings,
) -> bool:
    """Whether the audience has anything of a source that it may see no more."""
    if source.name not in sources:  # what a document of another source narrows
        return plan_narrowed(index, audience.groups, source, closings).changes
    hidden = plan_rows_of(whole, index, audience.groups, source, closings).hidden
    return bool(hidden) or has_hidden_tools(index, source, audience.groups)


def _update(
    whole: Resources, audience: Audience, sources: Collection[str], closings: Closings, *, made_from: int
) -> Updated:
    made: list[int] = []
    with open_audience(whole.index, audience) as index, _leased(whole, index) as lease:
        known = whole.index.ledger.sources.all()
        has = index.ledger.sources.all()
        again = marker_of(audience).unsettled
        for name, source in known.items():
            if again or name in sources or name not in has:
                planned = plan_rows_of(whole.index, index, audience.groups, source, closings)
            else:
                planned = plan_narrowed(index, audience.groups, source, closings)
                if not planned.changes:
                    continue
            tools = tools_seen(whole, source, audience.groups)
            made += _update_source(whole, audience, index, source, planned, tools, lease=lease)
        _purge(whole, audience, index)
        mark_made(audience, made_from=made_from, generation=index.current())
    for number in made:
        whole.progress.say(f"audience {audience.name}: generation {number} published")
    return Updated(name=audience.name, generations=tuple(made))


def _leased(whole: Resources, index: Index) -> AbstractContextManager[Lease]:
    return index.hold(progress=whole.progress, stop=whole.stop)


def _update_source(
    whole: Resources,
    audience: Audience,
    index: Index,
    source: Source,
    planned: VisibleRows,
    tools: Sequence[GraphFragment],
    *,
    lease: Lease,
) -> Sequence[int]:
    ledger, name, marker = index.ledger, source.name, marker_of(audience)
    renamed = bool(planned.rows) and families_differ(index, shown_source(source), base=index.current())
    changed = planned.changes or renamed or tools_differ(index, source, tools)
    if changed:  # noted first: a crash from here on leaves rows that are not published
        hides = bool(planned.hidden) or has_hidden_tools(index, source, audience.groups)
        noted = replace(marker, unsettled=True, purge=marker.purge or hides)
        write_audience_marker(audience.folder, noted)
    bring_rows(whole.index, index, planned, shown_source(source))
    if not (changed or marker.unsettled or ledger.generations.unfinished()):
        return ()
    whole.index.crash_point("audience.rows_saved")
    run_id = whole.run.run_id or uuid4().hex
    if not ledger.runs.is_known(run_id):
        ledger.runs.start(run_id, source=name, now=index.now())
    part = resources_for(whole, index, shown_source(source), run_id=run_id, tools=tools)
    try:
        made = publish_source(part, lease=lease)
    finally:
        part.release()
    whole.index.crash_point("audience.published")
    if not planned.rows and not tools:
        ledger.documents.forget(name)
    return () if made is None else (made.generation,)


def _purge(whole: Resources, audience: Audience, index: Index) -> None:
    """Drop the earlier generations, where they have something that readers may see no more."""
    marker = marker_of(audience)
    if not marker.purge:
        return
    whole.index.crash_point("audience.before_purge")
    kept = index.settings
    index.settings = replace(kept, keep_generations=1, keep=None)
    try:
        for name in index.ledger.sources.all():
            index.ledger.documents.forget_former_texts(name)
        if index.current():
            prune_generations(index, source="")
        if index.codes.exists():
            rmtree(index.codes)
    finally:
        index.settings = kept
    write_audience_marker(audience.folder, replace(marker, purge=False))


def change_audiences(
    index: Index, *, add: Collection[Groups], drop: Collection[Groups], sync: bool, quiet: bool
) -> tuple[Updated, ...]:
    """Declare and build audiences, and take others away; with *sync*, bring all up to date.

    Sends no request, and reads no source file: sources are as their last runs read them.
    Raises: ConfigError: there is no such audience to drop; StoreUnavailable: a source is being crawled;
    PublishHeld: publishing has been held since a rollback.
    """
    _check_droppable(index, drop)
    if add or sync:
        check_hold(index.layout)
    with _held(index, quiet=quiet) as parts:
        for groups in drop:
            _drop(index, groups)
        added = [declare_audience(index, groups).name for groups in add]
        added += [declare_audience(index, frozenset()).name] if not all(map(is_open, add)) else []
        if not (added or sync):
            return ()
        names = None if sync else added
        return update_audiences(parts, sources=index.ledger.sources.all().keys(), names=names)


def _check_droppable(index: Index, drop: Collection[Groups]) -> None:
    known = {one.name for one in audiences_of(index.layout.root)}
    for groups in drop:
        name = audience_name(groups)
        if name not in known:
            have = ", ".join(sorted(known)) or "none"
            raise ConfigError(f"no audience {name}; this index has: {have}", subject="--drop")
        others = [one for one in known - {*map(audience_name, drop)} if not is_open(groups_of_audience(one))]
        if name == PUBLIC and (others or is_stated(index)):
            raise ConfigError(
                f"{PUBLIC} cannot be dropped while anything states access: readers without a group see it",
                subject="--drop",
            )


def _drop(index: Index, groups: Groups) -> None:
    (audience,) = (one for one in audiences_of(index.layout.root) if one.groups == groups)
    with open_audience(index, audience) as opened:
        # First: from here on nobody finds it, whatever comes between.
        (audience.folder / AUDIENCE_FILE).unlink()
        if opened.manifest.graph != LANCE:
            _empty_graph(opened)
    rmtree(audience.folder)


def _empty_graph(opened: Index) -> None:
    """Leave nothing of an audience in a graph store that others share."""
    number, writer = opened.current() + 1, opened.graph.writer()
    writer.stage(number, base=0)
    writer.finish(number)
    writer.prune(keep=(number,))


@contextmanager
def _held(index: Index, *, quiet: bool) -> Iterator[Resources]:
    """Hold the index and all of its sources, and give the parts to update audiences with."""
    stop = threading.Event()
    with ExitStack() as stack:
        progress = stack.enter_context(StageProgress(quiet=quiet))
        for name in index.ledger.sources.all():
            stack.enter_context(index.hold(f"source:{name}", progress=progress, stop=stop, wait=False))
        stack.enter_context(index.hold(progress=progress, stop=stop))
        run = Run(index=str(index.layout.root), source="", run_id="")
        source = Source(name="", kind="files")
        yield stack.enter_context(
            closing(Resources(run, index=index, source=source, progress=progress, stop=stop))
        )
