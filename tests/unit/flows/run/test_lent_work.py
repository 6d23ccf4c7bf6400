"""How workers learn whether the work that a run lent them is still wanted."""

import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from flows.run import process_cache
from flows.run.index import Index
from flows.run.process_cache import check_lent, check_version, lease_of, lent, watch_lease
from flows.run.resources import Resources
from flows.run.values import Run
from indexes.layout import IndexLayout
from indexes.stores.ledger.ledger import open_ledger
from runtime.progress import StageProgress
from schemas.errors import ConfigError, Stopped

RUN = Run(index="index", source="handbook", run_id="r")


@pytest.fixture
def resources(tmp_path: Path) -> Iterator[Resources]:
    """Of a run with nothing but a ledger."""
    with closing(open_ledger(f"sqlite:///{tmp_path / 'ledger.sqlite'}")) as ledger:
        unread = cast("Any", None)
        layout = IndexLayout(tmp_path)
        index = Index(layout=layout, manifest=unread, settings=unread, opened_ledger=ledger)
        parts: Any = SimpleNamespace(
            run=RUN,
            index=index,
            progress=StageProgress(quiet=True),
            stop=threading.Event(),
            pipeline_version="v1",
        )
        yield parts


def test_work_is_wanted_for_as_long_as_it_is_lent(resources: Resources) -> None:
    with lent(resources) as run:
        check_lent(run, resources.index)

    with pytest.raises(Stopped, match="has ended"):
        check_lent(run, resources.index)


def test_work_of_a_run_that_another_process_goes_on_with_is_not_wanted(resources: Resources) -> None:
    with lent(resources) as before:
        pass
    with lent(resources) as now:
        check_lent(now, resources.index)
        with pytest.raises(Stopped):
            check_lent(before, resources.index)


def test_a_worker_stops_when_the_work_is_no_longer_wanted(
    resources: Resources, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process_cache, "POLL_SECONDS", 0.01)
    ended = threading.Event()
    with lent(resources) as run:
        watch_lease(run, resources, on_end=lambda _run: ended.set())
        assert not ended.wait(0.1)

    assert ended.wait(120)
    assert resources.stop.is_set()


def test_a_worker_of_another_machine_is_refused_a_ledger_in_a_file(resources: Resources) -> None:
    index = resources.index
    held = index.ledger.leases.acquire(
        lease_of("handbook"), holder="elsewhere/1:77:5", now="2000", expires_at="2999"
    )
    assert held is not None

    with pytest.raises(ConfigError, match="PostgreSQL"):
        check_lent(replace(RUN, token=held.token), index)


def test_a_worker_that_would_parse_otherwise_is_refused(resources: Resources) -> None:
    check_version(replace(RUN, pipeline_version="v1"), resources)

    with pytest.raises(ConfigError, match="another version"):
        check_version(replace(RUN, pipeline_version="v2"), resources)
