"""The whole index in a bucket, its ledger in PostgreSQL: the same export, by every command."""

import json
import os
import signal
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from indexes.layout import IndexLayout
from indexes.places import bucket_of
from indexes.publish.current import read_current
from indexes.stores.ledger.ledger import open_ledger
from tests.fakes.bucket_index import BucketIndex, bucket_index
from tests.fakes.handbook import Handbook
from tests.fakes.postgres_server import PostgresServer
from tests.fakes.prefect_server import PrefectServer, poll
from tests.fakes.sitegraph_runs import Sitegraph

pytestmark = [pytest.mark.server, pytest.mark.postgres]


@pytest.fixture
def remote(
    prefect_server: PrefectServer, postgres_server: PostgresServer, s3_server: str
) -> Iterator[BucketIndex]:
    """Where an index in a bucket may be made."""
    with bucket_index(prefect_server, postgres_server, s3_server) as made:
        yield made


@pytest.mark.long
def test_the_export_does_not_say_that_the_index_is_in_a_bucket(
    sitegraph: Sitegraph,
    remote: BucketIndex,
    first_index: Path,
    handbook: Handbook,
    source: Path,
    tmp_path: Path,
) -> None:
    """The bucket copied to a folder is read as an index, too; nothing but the ledger is missing there."""
    on_s3, index = remote.sitegraph, remote.index
    assert on_s3.run(source, index)["generation"] == 1
    assert on_s3.export(index) == sitegraph.export(first_index)
    handbook.edit("/guards.html", "Losing Guards", "Guards that are lost are looked for by the others.")

    report = on_s3.run(source, index)

    assert (report["generation"], report["documents"]["changed"]) == (2, 1)
    assert on_s3.damage(index) == ()
    copy, bucket = tmp_path / "copy", bucket_of(index)
    assert bucket is not None
    bucket.fs.get(bucket.path, str(copy), recursive=True)
    assert sitegraph.call("query", "--index", str(copy), "who loses a guard").returncode == 0
    assert on_s3.export(copy) == on_s3.export(index)
    assert not {"ledger.sqlite", "vectors.sqlite"} & {path.name for path in copy.iterdir()}


@pytest.mark.long
def test_every_command_that_changes_an_index_changes_one_in_a_bucket(
    remote: BucketIndex, handbook: Handbook, source: Path
) -> None:
    on_s3, index = remote.sitegraph, remote.index
    on_s3.run(source, index)
    first = on_s3.export(index)
    handbook.edit("/guards.html", "Losing Guards", "Guards that are lost are looked for by the others.")
    on_s3.run(source, index)

    def call(*arguments: str) -> str:
        done = on_s3.call(*arguments, "--index", str(index))
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert json.loads(call("status", "--format", "json"))["generation"] == 2
    assert "Guards" in call("changes", "--since", "1") or "guards" in call("changes", "--since", "1")
    call("verify")
    call("rollback")
    assert (read_current(index), on_s3.export(index)) == (1, first)
    assert on_s3.call("run", str(source), "--index", str(index)).returncode == 4
    call("rollback", "--lift")
    assert on_s3.run(source, index)["generation"] == 3
    assert "intact" in call("verify")
    call("drop", "handbook")
    assert on_s3.export(index)["documents"] == []
    assert on_s3.damage(index) == ()


@pytest.mark.long
def test_what_is_lost_from_the_bucket_is_made_again(remote: BucketIndex, source: Path) -> None:
    on_s3, index = remote.sitegraph, remote.index
    on_s3.run(source, index)
    whole = on_s3.export(index)
    layout = IndexLayout(index)
    lost = next((layout.lance / "chunks.lance" / "data").glob("*.lance"))
    for path in (layout.current, layout.manifest, lost):
        path.unlink()

    on_s3.run(source, index)

    assert on_s3.export(index) == whole
    assert on_s3.damage(index) == ()


@pytest.mark.long
def test_a_writer_that_was_paused_past_its_lease_does_not_move_readers_back(
    remote: BucketIndex, handbook: Handbook, source: Path
) -> None:
    """It has the lease when it is stopped, right before `CURRENT`; its connection to the ledger is cut."""
    on_s3, index = remote.sitegraph, remote.index
    on_s3.run(source, index)
    handbook.edit("/guards.html", "Losing Guards", "Guards that are lost are looked for by the others.")
    arguments = ("run", str(source), "--index", str(index))
    with on_s3.process(*arguments, SITEGRAPH_FAULT="current.locked:stop") as paused:
        poll(lambda: _is_stopped(paused.pid) or None, timeout=120, what="the run to be stopped")
        remote.postgres.disconnect_all(remote.ledger_url)
        _end_leases(remote.ledger_url)
        assert on_s3.run(source, index)["generation"] == 2  # goes on with what the other froze
        handbook.edit("/leases.html", "Losing Leases", "Whoever loses a lease pays the porter a silver coin.")
        assert on_s3.run(source, index)["generation"] == 3
        seen = on_s3.export(index)

        os.kill(paused.pid, signal.SIGCONT)
        _, said = paused.communicate(timeout=120)

    assert paused.returncode == 3, said
    assert (read_current(index), on_s3.export(index)) == (3, seen)
    assert on_s3.damage(index) == ()


def _is_stopped(pid: int) -> bool:
    """Source: proc(5), /proc/PID/stat, field 3."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"


def _end_leases(url: str) -> None:
    """Let all leases expire at once, which takes a minute otherwise."""
    with closing(open_ledger(url)) as ledger:
        now = "2020-01-01T00:00:00.000+00:00"
        for held in ledger.leases.describe(now=now):
            ledger.leases.break_(held.name, holder=held.holder)
