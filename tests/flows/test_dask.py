"""Runs whose fetching, parsing and embedding are done by worker processes of Dask."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import cloudpickle
import distributed
import pytest

from tests.fakes.handbook import TOPICS, Handbook, serve_handbook, write_source
from tests.fakes.sitegraph_runs import Sitegraph
from tests.flows.test_other_processes import hashes

pytestmark = pytest.mark.server

DASK = {"SITEGRAPH_TASK_RUNNER": "dask", "SITEGRAPH_TASK_RUNNER_WORKERS": "2"}


@dataclass
class Wire:
    """What went to workers and came back, pickled."""

    sent: list[bytes] = field(default_factory=list)
    returned: list[bytes] = field(default_factory=list)


@contextmanager
def watched_wire() -> Iterator[Wire]:
    """Keep what a client of Dask sends and is given in the block."""
    wire, submit, result = Wire(), distributed.Client.submit, distributed.Future.result

    def keep_sent(client: distributed.Client, *args: Any, **kwargs: Any) -> distributed.Future:
        wire.sent.append(cloudpickle.dumps((args, kwargs)))
        return submit(client, *args, **kwargs)

    def keep_returned(future: distributed.Future, *args: Any, **kwargs: Any) -> Any:
        value = result(future, *args, **kwargs)
        wire.returned.append(cloudpickle.dumps(value))
        return value

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(distributed.Client, "submit", keep_sent)
        patch.setattr(distributed.Future, "result", keep_returned)
        yield wire


@pytest.fixture
def dask(sitegraph: Sitegraph) -> Sitegraph:
    """The program with two workers of Dask."""
    return replace(sitegraph, environment={**sitegraph.environment, **DASK})


def test_workers_of_dask_publish_what_threads_do_and_are_sent_no_documents(
    sitegraph: Sitegraph, dask: Sitegraph, tmp_path: Path
) -> None:
    with serve_handbook(TOPICS[:4]) as handbook:
        source = write_source(tmp_path, handbook)
        here = sitegraph.run(source, tmp_path / "here")
        with watched_wire() as wire:
            there = dask.run(source, tmp_path / "there")

    assert there["generation"] == here["generation"] == 1
    assert there["chunks"] == here["chunks"]
    assert sitegraph.export(tmp_path / "there") == sitegraph.export(tmp_path / "here")
    assert hashes(tmp_path / "there", "fragments") == hashes(tmp_path / "here", "fragments")
    assert len(wire.sent) > 5, "a fetch and a parse for each batch, and the embedding"
    assert max(map(len, wire.sent + wire.returned)) < 64_000, "what Prefect says of the flow, and URIs"
    assert not any(b"the night porter rings" in one for one in wire.sent + wire.returned)
