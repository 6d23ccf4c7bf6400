"""Fixtures that every test may use."""

import gc
import os
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

from indexes.ports import GraphStore
from indexes.stores.ledger.ledger import Ledger, open_ledger
from tests.cost import Meter, print_costs
from tests.fakes.neo4j_server import Neo4jServer, running_neo4j
from tests.fakes.object_fault_proxy import FaultyStorage, faulty_storage
from tests.fakes.object_storage import make_bucket, running_s3, s3_environment
from tests.fakes.postgres_server import PostgresServer, running_postgres
from tests.fakes.real_sites import DATA

WITH_TORCH = (
    "tests/contract/test_encoder.py",
    "tests/unit/indexes/embed/test_bert_graph.py",
    "tests/unit/indexes/embed/test_export.py",
    "tests/unit/indexes/embed/test_unrelated.py",
)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Keep the tests of a file on one worker, all of Neo4j on one, and on one all that imports torch."""
    from xdist.scheduler import LoadFileScheduling

    class ByServer(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            if nodeid.partition("::")[0] in WITH_TORCH:
                return "torch"
            return "neo4j" if "neo4j" in nodeid else str(super()._split_scope(nodeid))

    return ByServer(config, log) if config.getvalue("dist") == "loadfile" else None


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the flag that makes golden files say what the parser gives now."""
    parser.addoption(
        "--rewrite-golden",
        action="store_true",
        help="write the outlines in tests/golden again; read the diff",
    )
    parser.addoption(
        "--costs", metavar="FILE", help="with =FILE: write the CPU seconds of each test into this file"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Refuse to write golden files where nobody reads what is written."""
    if config.getoption("--rewrite-golden") and os.environ.get("CI", "").lower() not in {"", "0", "false"}:
        raise pytest.UsageError("--rewrite-golden: CI compares golden files, it never writes them")
    config.pluginmanager.register(Meter())


def pytest_collection_finish() -> None:
    """Never look for garbage among modules and the tests themselves."""
    gc.freeze()


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Print what the tests cost, the dearest first."""
    print_costs(terminalreporter, config.getoption("--costs"))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what reads the real sites and PDFs where they are not."""
    if item.get_closest_marker("data") and not DATA.is_dir():
        pytest.skip(f"no real sites and PDFs: {DATA} is not there")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Under REQUIRE_ALL=1 a skipped test has failed: what it needs was promised to be there.

    Only the real sites and PDFs may be absent, and where they are there no test of them may skip.
    """
    report = yield
    absent = item.get_closest_marker("data") is not None and not DATA.is_dir()
    if report.skipped and not absent and os.environ.get("REQUIRE_ALL") == "1":
        report.outcome = "failed"
        report.longrepr = f"skipped under REQUIRE_ALL=1: {report.longrepr}"
    return report


@pytest.fixture(scope="session")
def neo4j_server() -> Iterator[Neo4jServer]:
    """A real Neo4j, one for all tests; it is started by the first that asks."""
    with running_neo4j() as server:
        yield server


@pytest.fixture
def neo4j_graph_store_factory(neo4j_server: Neo4jServer) -> Iterator[Callable[..., GraphStore]]:
    """Makes empty graph stores on the server, each an index of its own."""
    from tests.fakes.neo4j_stores import Neo4jStores

    stores = Neo4jStores(neo4j_server)
    yield stores
    stores.remove()


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """A real PostgreSQL, one for all tests; it is started by the first that asks."""
    with running_postgres() as server:
        yield server


@pytest.fixture
def postgres_url(postgres_server: PostgresServer) -> Iterator[str]:
    """The URL of an empty PostgreSQL database."""
    url = postgres_server.create_database()
    yield url
    postgres_server.drop_database(url)


@pytest.fixture(scope="session")
def s3_server() -> Iterator[str]:
    """The address of a server that speaks S3, one for all tests; it is started by the first that asks."""
    with running_s3() as address:
        yield address


@pytest.fixture
def bucket_url(s3_server: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """The URL of an empty bucket, which the environment leads to."""
    for name, value in s3_environment(s3_server).items():
        monkeypatch.setenv(name, value)
    return make_bucket()


@pytest.fixture
def storage(bucket_url: str, s3_server: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[FaultyStorage]:
    """A proxy before the server, which the environment leads to."""
    with faulty_storage(s3_server) as proxy:
        monkeypatch.setenv("AWS_ENDPOINT_URL", proxy.address)
        yield proxy


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def ledger_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of an empty database of either kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'ledger.sqlite'}"
    url: str = request.getfixturevalue("postgres_url")
    return url


@pytest.fixture
def ledger(ledger_url: str) -> Iterator[Ledger]:
    """An empty ledger in either database."""
    opened = open_ledger(ledger_url)
    yield opened
    opened.close()
