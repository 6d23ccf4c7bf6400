"""Deciding the rows of the next generation, and freezing them into a plan that can be written twice."""

import logging
from collections.abc import Mapping
from typing import Any

from flows.derive.link import DOCUMENTS_PER_PAYLOAD, NextGeneration
from flows.derive.row_plan import PlannedRows, RowPlan
from flows.run.batches import cut
from flows.run.pipeline import Pipeline, space_for
from flows.run.work import Difference
from indexes.stores.ledger.generations import Generation
from indexes.stores.ledger.leases import Lease
from indexes.write.outbox import plan_sha256
from ingest.diff.guard import emptied_refusal, wordless_refusal
from schemas.errors import GuardRefused, Stopped
from schemas.records import to_record

_log = logging.getLogger(__name__)


def plan_rows(pipeline: Pipeline, difference: Difference, *, as_of: str) -> PlannedRows:
    """Decide every row of the next generation."""
    return link_rows(pipeline, difference, as_of=as_of).decide()


def link_rows(pipeline: Pipeline, difference: Difference, *, as_of: str) -> RowPlan:
    """Decide the rows of all documents but what follows from them together, a payload for each batch."""
    changes = {change.doc: change for change in difference.changes}
    generation = NextGeneration(pipeline=pipeline, base=difference.base, changes=changes, as_of=as_of)
    affected, plan = generation.affected(), RowPlan(pipeline, difference, generation)
    _log.info(
        "linking %d documents: %d that change, and those that link to or name them",
        len(affected),
        len(changes),
    )
    pipeline.progress.expect("link", len(affected))
    for docs in cut(affected, DOCUMENTS_PER_PAYLOAD):
        _raise_if_stopped(pipeline)
        plan.link(docs)
        pipeline.progress.advance("link", len(docs))
    plan.carry_over()
    return plan


def check_text(pipeline: Pipeline, difference: Difference, planned: PlannedRows, *, accept: bool) -> None:
    """Stop before anything is frozen when readers would find nothing, or much less, of the source.

    Raises: GuardRefused: every document is empty, as behind a login or a script; or many have lost all
    their text and *accept* is false.
    """
    if refusal := wordless_refusal(planned.sources.get(pipeline.source.name, {})):
        raise GuardRefused(f"{refusal}; nothing was changed", subject=pipeline.source.name)
    refusal = emptied_refusal(difference.changes, emptied=planned.emptied, live=difference.live)
    if refusal and not accept:
        raise GuardRefused(
            f"{refusal}; nothing was changed. Go on with: sitegraph run SOURCE.yaml --accept",
            subject=pipeline.source.name,
        )


def freeze(
    pipeline: Pipeline,
    difference: Difference,
    planned: PlannedRows,
    *,
    lease: Lease,
    as_of: str,
) -> Generation:
    """Fix the plan as the next generation; from here on a crash is followed by a replay."""
    generations, source = pipeline.index.ledger.generations, pipeline.source.name
    number = generations.begin(
        base=difference.base, source=source, run_id=pipeline.run_id, token=lease.token, as_of=as_of
    )
    pipeline.crash_point("plan.before_freeze")
    generations.freeze(
        number,
        payloads=planned.payloads,
        plan_sha=plan_sha256(planned.payloads, base=difference.base, source=source),
        changes=difference.changes,
        details={
            **_details(difference, planned, embedded=pipeline.encoding.taken),
            "space": to_record(space_for(pipeline, number)),
        },
        redirects=planned.redirects,
        feed=planned.feed,
    )
    pipeline.crash_point("plan.frozen")
    frozen = generations.get(number)
    assert frozen is not None
    _log.info(
        "generation %d planned on %d: %d chunks come, %d go; %d passages compared for likeness",
        number,
        difference.base,
        planned.chunks_added,
        planned.chunks_removed,
        planned.similar.counts.searched,
    )
    return frozen


def _details(difference: Difference, planned: PlannedRows, *, embedded: int) -> Mapping[str, Any]:
    return {
        "sources": planned.sources,
        "documents": difference.documents,
        "chunks": {"added": planned.chunks_added, "removed": planned.chunks_removed},
        "embedded": embedded,
        "guard": difference.guard,
        "names": to_record(planned.names),
        "similar": {"state": planned.similar.state, **to_record(planned.similar.counts)},
    }


def _raise_if_stopped(pipeline: Pipeline) -> None:
    if pipeline.stop.is_set():
        raise Stopped("stopped; run again to go on", subject=pipeline.source.name)
