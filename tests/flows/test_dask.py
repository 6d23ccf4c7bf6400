"""Runs whose fetching, parsing and embedding are done by worker processes of Dask."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import cloudpickle
import pytest

from indexes.layout import IndexLayout
from tests.fakes.bucket_index import bucket_index
from tests.fakes.dask_cluster import DASK, WORKER, cluster
from tests.fakes.handbook import TOPICS, Handbook, serve_handbook, write_source
from tests.fakes.marked_processes import Marked
from tests.fakes.postgres_server import PostgresServer
from tests.fakes.prefect_server import PrefectServer, poll
from tests.fakes.sitegraph_runs import Sitegraph
from tests.flows.test_killed_run import slow_down
from tests.flows.test_other_processes import hashes

pytestmark = [pytest.mark.system, pytest.mark.server]


@dataclass
class Wire:
    """What went to workers and came back, pickled."""

    sent: list[bytes] = field(default_factory=list)
    returned: list[bytes] = field(default_factory=list)


@contextmanager
def watched_wire() -> Iterator[Wire]:
    """Keep what a client of Dask sends and is given in the block."""
    import distributed

    wire, submit, result = Wire(), distributed.Client.submit, distributed.Future.result

    def keep_sent(client: Any, *args: Any, **kwargs: Any) -> Any:
        wire.sent.append(cloudpickle.dumps((args, kwargs)))
        return submit(client, *args, **kwargs)

    def keep_returned(future: Any, *args: Any, **kwargs: Any) -> Any:
        value = result(future, *args, **kwargs)
        wire.returned.append(cloudpickle.dumps(value))
        return value

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(distributed.Client, "submit", keep_sent)
        patch.setattr(distributed.Future, "result", keep_returned)
        yield wire


@pytest.fixture
def dask(on_prefect: Sitegraph) -> Sitegraph:
    """The program with two workers of Dask."""
    return replace(on_prefect, environment={**on_prefect.environment, **DASK})


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
    spent = {cause: one["cpu"] for cause, one in there["cost"]["causes"].items()}
    assert min(spent["parse"], spent["embed"]) > 0, "told by workers: nobody parses or encodes here"
    assert sitegraph.export(tmp_path / "there") == sitegraph.export(tmp_path / "here")
    assert hashes(tmp_path / "there", "fragments") == hashes(tmp_path / "here", "fragments")
    assert len(wire.sent) == 5, "two waves of a batch to fetch and to parse, and the embedding"
    assert max(map(len, wire.sent + wire.returned)) < 64_000, "what Prefect says of the flow, and URIs"
    assert not any(b"the night porter rings" in one for one in wire.sent + wire.returned)


@pytest.mark.long
@pytest.mark.postgres
def test_workers_beside_an_index_in_a_bucket_need_no_folder_and_share_vectors_there(
    sitegraph: Sitegraph,
    prefect_server: PrefectServer,
    postgres_server: PostgresServer,
    s3_server: str,
    tmp_path: Path,
) -> None:
    with (
        serve_handbook(TOPICS[:4]) as handbook,
        bucket_index(prefect_server, postgres_server, s3_server, **DASK) as remote,
    ):
        source = write_source(tmp_path, handbook)
        sitegraph.run(source, tmp_path / "here")

        remote.sitegraph.run(source, remote.index)

        assert remote.sitegraph.export(remote.index) == sitegraph.export(tmp_path / "here")
        assert remote.sitegraph.damage(remote.index) == ()
        assert any(IndexLayout(remote.index).shared_vectors.rglob("*"))


@pytest.fixture
def slow_site() -> Iterator[Handbook]:
    """A handbook whose pages take their time."""
    with serve_handbook() as handbook:
        slow_down(handbook, seconds=0.5)
        yield handbook


@pytest.fixture
def marked() -> Iterator[Marked]:
    """A mark for the processes of a run; none of them outlives the test."""
    mark = Marked()
    yield mark
    mark.kill()


def start(dask: Sitegraph, source: Path, index: Path, marked: Marked, **settings: str) -> Any:
    """Start a run as a command."""
    arguments = ("run", str(source), "--index", str(index), "--format", "json")
    return dask.process(*arguments, **marked.environment, **settings)


def wait_for_pages(handbook: Handbook, number: int) -> None:
    """Wait until so many pages have been asked for."""
    poll(lambda: len(handbook.site.paths()) >= number or None, timeout=300, what="a few pages")


@pytest.mark.long
def test_a_worker_that_is_killed_is_replaced_and_nothing_is_lost(
    sitegraph: Sitegraph, dask: Sitegraph, tmp_path: Path, slow_site: Handbook, marked: Marked
) -> None:
    source, index = write_source(tmp_path, slow_site), tmp_path / "index"
    with start(dask, source, index, marked) as process:
        wait_for_pages(slow_site, 5)
        workers = marked.children_of(process.pid, running=WORKER)
        assert len(workers) == 2
        for worker in workers:
            os.kill(worker, signal.SIGKILL)
        _, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    assert marked.alive() == {}
    slow_site.set_footer(slow_site.footer)
    sitegraph.run(source, tmp_path / "undisturbed")
    assert sitegraph.export(index) == sitegraph.export(tmp_path / "undisturbed")
    assert sitegraph.damage(index) == ()


@pytest.mark.long
def test_when_the_run_is_killed_its_workers_end_and_the_next_run_goes_on(
    sitegraph: Sitegraph, dask: Sitegraph, tmp_path: Path, slow_site: Handbook, marked: Marked
) -> None:
    source, index = write_source(tmp_path, slow_site), tmp_path / "index"
    with start(dask, source, index, marked) as process:
        wait_for_pages(slow_site, 7)
        process.kill()
        process.communicate(timeout=300)
    poll(lambda: not marked.alive() or None, timeout=120, what="the end of the workers")
    assert not (index / "CURRENT").exists() or (index / "CURRENT").read_text().startswith("0\n")

    slow_site.set_footer(slow_site.footer)
    report = dask.run(source, index)

    assert report["generation"] == 1
    sitegraph.run(source, tmp_path / "undisturbed")
    assert sitegraph.export(index) == sitegraph.export(tmp_path / "undisturbed")


@pytest.mark.long
def test_ctrl_c_ends_the_workers_too(
    dask: Sitegraph, tmp_path: Path, slow_site: Handbook, marked: Marked
) -> None:
    source = write_source(tmp_path, slow_site)
    with start(dask, source, tmp_path / "index", marked) as process:
        wait_for_pages(slow_site, 5)
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=300)
    assert (process.returncode, out) == (130, ""), err
    assert "run again to continue" in err
    assert "Traceback" not in err
    poll(lambda: not marked.alive() or None, timeout=120, what="the end of the workers")


@pytest.mark.long
def test_a_lost_scheduler_is_told_in_one_line_and_the_next_run_goes_on_with_another(
    sitegraph: Sitegraph, dask: Sitegraph, tmp_path: Path, slow_site: Handbook, marked: Marked
) -> None:
    source, index = write_source(tmp_path, slow_site), tmp_path / "index"
    environment = {**dask.environment, **marked.environment}
    with (
        cluster(environment) as (address, scheduler),
        start(dask, source, index, marked, SITEGRAPH_TASK_RUNNER_ADDRESS=address) as process,
    ):
        wait_for_pages(slow_site, 5)
        scheduler.kill()
        out, err = process.communicate(timeout=300)
    assert (process.returncode, out) == (3, ""), err
    assert err.splitlines()[-1].startswith("sitegraph: SITEGRAPH_TASK_RUNNER: dask lost its workers")

    slow_site.set_footer(slow_site.footer)
    with cluster(environment) as (address, _):
        done = dask.command(
            "run", str(source), "--index", str(index), **DASK, SITEGRAPH_TASK_RUNNER_ADDRESS=address
        )
    assert done.returncode == 0, done.stderr
    sitegraph.run(source, tmp_path / "undisturbed")
    assert sitegraph.export(index) == sitegraph.export(tmp_path / "undisturbed")
