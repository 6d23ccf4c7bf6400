"""Errors of the driver in our words, with no server."""

import socket
import subprocess
import sys
import time

import pytest

from indexes.stores.neo4j_.store import Neo4jGraphStore
from schemas.errors import ConfigError, StoreUnavailable


def store_at(uri: str) -> Neo4jGraphStore:
    return Neo4jGraphStore(uri, "neo4j", "the secret", index_id="test")


def test_nothing_listening_is_said_within_seconds_to_readers_and_writers() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound and never listening: nobody else gets the port meanwhile
        uri = f"bolt://127.0.0.1:{taken.getsockname()[1]}"
        started = time.monotonic()
        with pytest.raises(
            StoreUnavailable, match="start the server, or check SITEGRAPH_NEO4J_URI"
        ) as reading:
            store_at(uri).at(1)
        with pytest.raises(StoreUnavailable):
            store_at(uri).writer().stage(1, base=0)
    assert time.monotonic() - started < 60
    assert reading.value.subject == uri
    assert "the secret" not in str(reading.value)


@pytest.mark.parametrize("uri", ["http://127.0.0.1:7687", "not an address", "bolt+nonsense://x"])
def test_an_address_of_another_kind_is_a_configuration_error(uri: str) -> None:
    with pytest.raises(ConfigError, match="SITEGRAPH_NEO4J_URI"):
        store_at(uri).at(1)


def test_a_password_written_into_the_address_is_not_repeated() -> None:
    with pytest.raises(ConfigError) as error:
        store_at("http://neo4j:hunter2@127.0.0.1:1").at(1)
    assert "hunter2" not in str(error.value)


def test_the_empty_index_needs_no_server() -> None:
    assert list(store_at("bolt://127.0.0.1:1").at(0).scan_nodes()) == []


def test_the_driver_is_not_imported_before_it_is_needed() -> None:
    probe = "import sys, indexes.stores.neo4j_.store; sys.exit('neo4j' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", probe], check=False).returncode == 0
