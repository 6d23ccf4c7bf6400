"""The whole index in a bucket, its ledger in PostgreSQL: the same export, and no file of it on disk."""

import logging
from pathlib import Path

import pytest

from indexes.places import index_place
from tests.fakes.handbook import Handbook
from tests.fakes.prefect_server import PrefectServer
from tests.fakes.sitegraph_runs import Sitegraph, sitegraph_on

pytestmark = [pytest.mark.server, pytest.mark.postgres]


@pytest.fixture
def on_s3(prefect_server: PrefectServer, postgres_url: str, bucket_url: str, tmp_path: Path) -> Sitegraph:
    """The program with a ledger in PostgreSQL and a bucket of its own."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    return sitegraph_on(prefect_server, SITEGRAPH_LEDGER_URL=postgres_url)


def test_the_export_does_not_say_that_the_index_is_in_a_bucket(
    sitegraph: Sitegraph,
    on_s3: Sitegraph,
    bucket_url: str,
    first_index: Path,
    handbook: Handbook,
    source: Path,
) -> None:
    index = index_place(f"{bucket_url}/handbook")
    assert on_s3.run(source, index)["generation"] == 1
    assert on_s3.export(index) == sitegraph.export(first_index)
    handbook.edit("/guards.html", "Losing Guards", "Guards that are lost are looked for by the others.")

    report = on_s3.run(source, index)

    assert (report["generation"], report["documents"]["changed"]) == (2, 1)
    assert on_s3.damage(index) == ()
