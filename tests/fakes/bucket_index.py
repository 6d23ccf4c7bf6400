"""An index in a bucket with its ledger in PostgreSQL, and copies of both."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from uuid import uuid4

import pytest

from indexes.places import bucket_of, index_place
from tests.fakes.object_storage import make_bucket, s3_environment
from tests.fakes.postgres_server import PostgresServer
from tests.fakes.prefect_server import PrefectServer
from tests.fakes.sitegraph_runs import Sitegraph, sitegraph_on

PATIENCE = 600
"""Seconds: moto's server, a thread of this process, takes long where much else is tested at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BucketIndex:
    """The program as the index's ledger and bucket need it, and where the index is."""

    sitegraph: Sitegraph
    index: Path
    ledger_url: str
    postgres: PostgresServer

    def copy(self) -> "BucketIndex":
        """Copy the index into another prefix, its ledger into another database."""
        url, there = self.postgres.copy_database(self.ledger_url), self.index.with_name(uuid4().hex)
        bucket = bucket_of(self.index)
        assert bucket is not None
        bucket.fs.copy(bucket.path, bucket_of(there).path, recursive=True)  # type: ignore[union-attr]
        environment = {**self.sitegraph.environment, "SITEGRAPH_LEDGER_URL": url}
        program = replace(self.sitegraph, environment=environment)
        return replace(self, sitegraph=program, index=there, ledger_url=url)


@contextmanager
def bucket_index(
    server: PrefectServer, postgres: PostgresServer, s3_server: str, **settings: str
) -> Iterator[BucketIndex]:
    """Return where an index may be made, and the program that makes it."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    environment, url = s3_environment(s3_server), postgres.create_database()
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment.items():
            patch.setenv(name, value)
        waiting = {"SITEGRAPH_BUCKET_SECONDS": str(PATIENCE)}
        program = sitegraph_on(server, SITEGRAPH_LEDGER_URL=url, **waiting, **environment, **settings)
        index = index_place(f"{make_bucket()}/index", patience=PATIENCE)
        yield BucketIndex(sitegraph=program, index=index, ledger_url=url, postgres=postgres)
