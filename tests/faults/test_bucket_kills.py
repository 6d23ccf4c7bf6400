"""SIGKILL at random times of runs on an index in a bucket, while a site of small pages keeps changing.

BUCKET_KILLS says how many runs there are.
"""

import os
import signal
import time
from contextlib import suppress
from pathlib import Path
from random import Random
from urllib.parse import urlsplit

import pytest

from indexes.layout import IndexLayout
from indexes.publish.current import read_current
from indexes.stores.raw import SUFFIX
from schemas.errors import ConfigError
from tests.fakes.bucket_index import BucketIndex, bucket_index
from tests.fakes.forked_runs import forked_run
from tests.fakes.large_site import LargeSite, serve_large_site
from tests.fakes.postgres_server import PostgresServer
from tests.fakes.prefect_server import PrefectServer, poll, prefect_server
from tests.fakes.sitegraph_runs import sitegraph
from tests.fakes.tiny_model import write_tiny_model
from tests.faults.test_random_kills import write_source

pytestmark = [pytest.mark.server, pytest.mark.postgres, pytest.mark.long, pytest.mark.timeout(5400)]
__all__ = ["prefect_server", "sitegraph"]

PAGES = 50
ROUNDS = int(os.environ.get("BUCKET_KILLS", "20"))
MEAN_SECONDS, MOST_SECONDS = 5.0, 30.0
"""Of a run's life once it has asked for a page; now and then one lives long enough to publish."""
SEED = 20261126


def test_kills_of_runs_on_a_bucket_lose_nothing_and_leave_nothing_over(
    prefect_server: PrefectServer, postgres_server: PostgresServer, s3_server: str, tmp_path: Path
) -> None:
    random, begun = Random(SEED), time.monotonic()
    model = write_tiny_model(tmp_path / "tiny")
    settings = {"SITEGRAPH_KEEP_GENERATIONS": "1", "SITEGRAPH_MODEL": str(model)}
    killed, published = 0, 0
    with (
        serve_large_site(pages=PAGES, random=random) as site,
        bucket_index(prefect_server, postgres_server, s3_server, **settings) as remote,
    ):
        source = write_source(tmp_path, site)
        for number in range(ROUNDS):
            killed += _round(remote, source, site, min(MOST_SECONDS, random.expovariate(1 / MEAN_SECONDS)))
            if (current := _generation(remote.index)) != published:
                published = current
                assert remote.sitegraph.damage(remote.index) == (), f"generation {published}, round {number}"
                site.change(share=1.0)
        remote.sitegraph.run(source, remote.index)

        exported = remote.sitegraph.export(remote.index)
        paths = [urlsplit(row["url"]).path for row in exported["documents"]]
        assert sorted(paths) == sorted(site.paths), "nothing twice, nothing lost"
        assert remote.sitegraph.damage(remote.index) == ()
        with bucket_index(prefect_server, postgres_server, s3_server, **settings) as undisturbed:
            undisturbed.sitegraph.run(source, undisturbed.index)
            assert exported == undisturbed.sitegraph.export(undisturbed.index)
            for what in ("raw", "fragments"):
                assert _kept(remote.index, what) == _kept(undisturbed.index, what), "no orphan"
    assert killed >= ROUNDS // 2
    seconds = time.monotonic() - begun
    print(f"{ROUNDS} runs, {killed} killed, generation {published} before the last; {seconds:.0f} s")


def _round(remote: BucketIndex, source: Path, site: LargeSite, seconds: float) -> bool:
    """Run, and kill it so long after the first page; whether it had to be killed."""
    site.asked()
    with forked_run(remote.sitegraph, source, remote.index) as process:
        poll(lambda: site.site.paths() or not process.is_alive() or None, timeout=600, what="the first page")
        process.join(seconds)
        process.kill()
        process.join()
    assert process.exitcode in (0, -signal.SIGKILL)
    return process.exitcode != 0


def _generation(index: Path) -> int:
    with suppress(ConfigError):
        return read_current(index)
    return 0


def _kept(index: Path, what: str) -> list[str]:
    """What the bucket holds by hash."""
    folder = getattr(IndexLayout(index), what)
    return sorted(path.name for path in folder.rglob(f"*{SUFFIX}"))
