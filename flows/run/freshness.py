"""How fresh the sources of an index are, by its ledger."""

from collections.abc import Mapping

from flows.run.index import Index
from schemas.freshness import FreshnessState, judge_freshness


def freshness_by_source(index: Index) -> Mapping[str, FreshnessState]:
    """The freshness of every source that the ledger knows, by name; the SLO is that of its last run."""
    sources, ended = index.ledger.sources.all(), index.ledger.runs.last_finished()
    now = index.clock.now()
    return {
        name: judge_freshness(
            sources[name].freshness.slo if name in sources else None, as_of=ended.get(name), now=now
        )
        for name in sorted({*sources, *ended})
    }


def freshness_of(index: Index, source: str, *, slo: float | None) -> FreshnessState:
    """The freshness of one source against an SLO."""
    return judge_freshness(slo, as_of=index.ledger.runs.last_finished().get(source), now=index.clock.now())
