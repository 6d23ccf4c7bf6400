"""Connections are used again while they are good, and closed when they are not or too many."""

import asyncio
import ssl
from collections.abc import Sequence

import httpcore2
import pytest

from ingest.fetch.gate import AddressGate, GateBackend, parse_allowed
from ingest.fetch.transport import KEPT, Connections
from tests.fakes.fetching import fetch_one, session_for
from tests.fakes.site_server import Reply, Site, serve


class _Connection:
    """As much of a connection as keeping it needs."""

    def __init__(self, *, available: bool = True) -> None:
        self.available = available
        self.expired = self.closed = False

    def is_available(self) -> bool:
        return self.available

    def has_expired(self) -> bool:
        return self.expired

    async def aclose(self) -> None:
        self.closed = True


@pytest.fixture
def connections() -> Connections:
    backend = GateBackend(AddressGate([parse_allowed("127.0.0.1:80")]))
    return Connections(backend=backend, ssl_context=ssl.create_default_context())


def _origin(port: int) -> httpcore2.Origin:
    return httpcore2.Origin(b"http", b"127.0.0.1", port)


def _give_back(connections: Connections, given: Sequence[tuple[_Connection, int]]) -> None:
    async def give() -> None:
        for connection, port in given:
            await connections.give_back(connection, _origin(port))

    asyncio.run(give())


def test_one_connection_serves_one_request_after_the_other() -> None:
    with serve(Site({"/a": Reply(b"<p>a</p>")})) as site, session_for(site) as session:
        assert [fetch_one(session, site.url("/a")).requests for _ in range(5)] == [1] * 5
        assert site.most_connections == 1


def test_the_connection_used_last_is_taken_first_and_only_for_its_own_origin(
    connections: Connections,
) -> None:
    first, second, elsewhere = _Connection(), _Connection(), _Connection()
    _give_back(connections, [(first, 80), (second, 80), (elsewhere, 81)])
    assert [asyncio.run(connections.take(_origin(80))) for _ in range(2)] == [second, first]
    fresh = asyncio.run(connections.take(_origin(80)))
    assert isinstance(fresh, httpcore2.AsyncHTTPConnection)


def test_one_that_cannot_serve_again_is_closed(connections: Connections) -> None:
    broken = _Connection(available=False)
    _give_back(connections, [(broken, 80)])
    assert broken.closed
    assert asyncio.run(connections.take(_origin(80))) is not broken


def test_one_that_was_closed_or_spoken_to_while_idle_is_not_used(connections: Connections) -> None:
    good, stale = _Connection(), _Connection()
    _give_back(connections, [(good, 80), (stale, 80)])
    stale.expired = True
    assert asyncio.run(connections.take(_origin(80))) is good
    assert stale.closed


def test_those_idle_for_longest_go_when_they_expire_or_are_too_many(connections: Connections) -> None:
    kept = [_Connection() for _ in range(KEPT + 1)]
    _give_back(connections, [(connection, 80) for connection in kept])
    assert [connection.closed for connection in kept] == [True] + [False] * KEPT
    kept[1].expired = True
    _give_back(connections, [(_Connection(available=False), 80)])
    assert kept[1].closed


def test_closing_closes_all_that_is_idle(connections: Connections) -> None:
    idle = [_Connection(), _Connection()]
    _give_back(connections, [(idle[0], 80), (idle[1], 81)])
    asyncio.run(connections.aclose())
    assert all(connection.closed for connection in idle)
