"""Neo4j over TLS with a certificate that nobody vouches for."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from indexes.stores.neo4j_.store import Neo4jGraphStore
from schemas.errors import StoreUnavailable
from tests.fakes.graph_samples import make_page
from tests.fakes.neo4j_server import JavaServer, Neo4jServer, load_jars

pytestmark = [pytest.mark.system, pytest.mark.neo4j]


@pytest.fixture(scope="module")
def tls_server(neo4j_server: Neo4jServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[JavaServer]:
    jars = load_jars() if isinstance(neo4j_server, JavaServer) else None
    if jars is None:
        pytest.skip("a server with a certificate of our own needs Java and Maven")
    server = JavaServer(jars, certificates=make_certificate(tmp_path_factory.mktemp("tls")))
    yield server
    server.stop()


def make_certificate(folder: Path) -> Path:
    files = "-keyout private.key -out public.crt"
    command = f"openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=127.0.0.1 {files}"
    subprocess.run(command.split(), cwd=folder, check=True, capture_output=True)
    return folder


def store_over(server: JavaServer, scheme: str) -> Neo4jGraphStore:
    address = server.uri.partition("://")[2]
    return Neo4jGraphStore(f"{scheme}://{address}", server.user, server.password, index_id="test")


@pytest.mark.parametrize("scheme", ["neo4j+s", "bolt+s", "bolt"])
def test_a_self_signed_certificate_and_a_plain_line_are_refused(tls_server: JavaServer, scheme: str) -> None:
    with pytest.raises(StoreUnavailable, match="its scheme too"):
        store_over(tls_server, scheme).writer().stage(1, base=0)


@pytest.mark.parametrize("scheme", [pytest.param("neo4j+ssc", marks=pytest.mark.long), "bolt+ssc"])
def test_a_self_signed_certificate_is_accepted_where_the_scheme_says_so(
    tls_server: JavaServer, scheme: str
) -> None:
    store, page = store_over(tls_server, scheme), make_page("https://site.test/a")
    writer = store.writer()
    writer.stage(1, base=0)
    writer.apply_nodes([page], [])
    writer.finish(1)
    assert list(store.at(1).scan_nodes()) == [page]
    store.close()
