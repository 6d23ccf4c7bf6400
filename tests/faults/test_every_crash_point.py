"""SIGKILL at every named point of a run; `make faults` runs these, `make test` a few of them."""

from pathlib import Path

import pytest

from tests.fakes.crashes import (
    AFTER_FREEZE,
    BEFORE_FREEZE,
    CrashSite,
    crashes,
    crashes_after_a_change_of_model,
)
from tests.fakes.prefect_server import prefect_server
from tests.fakes.sitegraph_runs import sitegraph, tiny

pytestmark = [
    pytest.mark.server,
    pytest.mark.long,
]
__all__ = ["crashes", "crashes_after_a_change_of_model", "prefect_server", "sitegraph", "tiny"]

POINTS = (
    "fetch.received",
    "ledger.after_fetch",
    "parse.midway",
    "lease.acquired",
    "embed.saved",
    "outbox.midway",
    "plan.before_freeze",
    "plan.frozen",
    "graph.before_batch",
    "graph.nodes_done",
    "graph.retired",
    "vector.before_merge",
    "vector.not_tagged",
    "stores.written",
    "verify.passed",
    "manifest.before_rename",
    "current.before_rename",
    "current.not_recorded",
    "prune.midway",
    "collect.midway",
    "report.before",
)


@pytest.mark.parametrize("point", POINTS)
def test_after_a_kill_the_next_run_makes_what_an_undisturbed_one_would(
    crashes: CrashSite, tmp_path: Path, point: str
) -> None:
    index = crashes.copy(tmp_path)
    crashes.kill_at(point, index)

    crashes.finish(index)


@pytest.mark.parametrize("point", POINTS[8:16])
@pytest.mark.parametrize("before", [AFTER_FREEZE, BEFORE_FREEZE])
def test_a_kill_after_a_kill_loses_nothing(
    crashes: CrashSite, tmp_path: Path, before: str, point: str
) -> None:
    index = crashes.copy(tmp_path)
    crashes.kill_at(before, index)
    crashes.kill_at(point, index)

    crashes.finish(index)


@pytest.mark.parametrize(
    ("first", "then"), [(AFTER_FREEZE, "recover.midway"), (BEFORE_FREEZE, "abort.midway")]
)
def test_a_recovery_that_is_killed_is_recovered_from(
    crashes: CrashSite, tmp_path: Path, first: str, then: str
) -> None:
    index = crashes.copy(tmp_path)
    for point in (first, then, then):
        crashes.kill_at(point, index)

    crashes.finish(index)


@pytest.mark.parametrize("point", [BEFORE_FREEZE, AFTER_FREEZE, "vector.not_tagged"])
def test_recovery_keeps_the_vectors_of_the_model_before(
    crashes_after_a_change_of_model: CrashSite, tmp_path: Path, point: str
) -> None:
    site = crashes_after_a_change_of_model
    index = site.copy(tmp_path)
    site.kill_at(point, index)

    site.finish(index)

    first, second = (site.sitegraph.damage(index, generation=number) for number in (1, 2))
    assert (first, second) == ((), ())
