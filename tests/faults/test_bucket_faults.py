"""Object storage that fails in the middle of a run, and runs on an index in a bucket that are killed."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from indexes.publish.current import read_current
from tests.fakes.bucket_index import BucketIndex, bucket_index
from tests.fakes.crashes import CrashSite, change
from tests.fakes.handbook import serve_handbook, write_source
from tests.fakes.object_fault_proxy import Fault, FaultyStorage, faulty_storage
from tests.fakes.postgres_server import PostgresServer
from tests.fakes.prefect_server import PrefectServer, prefect_server
from tests.fakes.sitegraph_runs import Rows, sitegraph
from tests.fakes.tiny_model import write_tiny_model
from tests.faults.test_every_crash_point import POINTS

pytestmark = [pytest.mark.server, pytest.mark.postgres, pytest.mark.long]
__all__ = ["prefect_server", "sitegraph"]

PATIENCE = {"SITEGRAPH_BUCKET_SECONDS": "12"}

Site = tuple[BucketIndex, Path, dict[str, Rows], FaultyStorage]


@pytest.fixture(scope="module")
def site(
    prefect_server: PrefectServer,
    postgres_server: PostgresServer,
    s3_server: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Site]:
    """An index in a bucket behind a proxy, at its first generation; its site has changed since."""
    folder = tmp_path_factory.mktemp("site")
    model = str(write_tiny_model(folder / "tiny"))  # whose encoder is copied soon
    with (
        serve_handbook() as handbook,
        faulty_storage(s3_server) as storage,
        bucket_index(prefect_server, postgres_server, storage.address, SITEGRAPH_MODEL=model) as first,
    ):
        source = write_source(folder, handbook)
        first.sitegraph.run(source, first.index)
        change(handbook)
        undisturbed = first.copy()
        assert undisturbed.sitegraph.run(source, undisturbed.index)["generation"] == 2
        yield first, source, undisturbed.sitegraph.export(undisturbed.index), storage


@pytest.mark.parametrize("point", [*POINTS, "current.locked"])
def test_after_a_kill_the_next_run_makes_what_an_undisturbed_one_would(site: Site, point: str) -> None:
    first, source, expected, _ = site
    copy = first.copy()
    crashes = CrashSite(sitegraph=copy.sitegraph, source=source, first=copy.index, expected=expected)
    crashes.kill_at(point, copy.index)

    crashes.finish(copy.index)


@pytest.mark.parametrize(
    ("fault", "after", "code"),
    [
        (Fault.DENY, 2, 3),
        (Fault.DENY, 30, 3),
        (Fault.FULL, 30, 1),
        (Fault.DOWN, 0, 3),
        (Fault.DOWN, 40, 3),
        (Fault.HANG, 2, 3),
        (Fault.HANG, 40, 3),
        (Fault.STALL, 40, 3),
    ],
)
def test_a_run_that_storage_fails_ends_with_one_line_and_the_next_one_completes(
    site: Site, fault: Fault, after: int, code: int
) -> None:
    first, source, expected, storage = site
    copy = first.copy()
    storage.break_after(fault, after)
    try:
        done = copy.sitegraph.call("run", str(source), "--index", str(copy.index), **PATIENCE)
    finally:
        storage.break_after(None)

    assert done.returncode == code, done.stderr
    said = done.stderr.splitlines()[-1]
    assert said.startswith("sitegraph: "), done.stderr
    assert "Traceback" not in done.stderr
    if code == 3:
        assert bucket_name(copy.index) in said
        assert "check the name of the bucket" in said
    assert read_current(copy.index) == 1
    crashes = CrashSite(sitegraph=copy.sitegraph, source=source, first=copy.index, expected=expected)
    crashes.finish(copy.index)


def bucket_name(index: Path) -> str:
    """The bucket of an index."""
    return str(index).removeprefix("s3://").partition("/")[0]


@pytest.mark.parametrize(("only", "always"), [("", False), ("CURRENT", True)])
def test_answers_of_puts_that_are_lost_change_nothing(site: Site, only: str, always: bool) -> None:
    """The bucket has what was put: first of every object the answer is lost, then each of `CURRENT`."""
    first, source, expected, storage = site
    copy = first.copy()
    storage.break_after(Fault.LOSE, only=only, always=always)
    try:
        report = copy.sitegraph.run(source, copy.index)
    finally:
        failed = storage.failed
        storage.break_after(None)

    assert (report["generation"], read_current(copy.index)) == (2, 2)
    assert failed >= (1 if only else 20)
    assert copy.sitegraph.export(copy.index) == expected
    assert copy.sitegraph.damage(copy.index) == ()


def test_a_slow_server_gives_the_same(site: Site) -> None:
    first, source, expected, storage = site
    copy = first.copy()
    storage.break_after(Fault.SLOW)
    try:
        copy.sitegraph.run(source, copy.index)
    finally:
        storage.break_after(None)

    assert copy.sitegraph.export(copy.index) == expected
