"""Clients that wait for a publish, and are told of the chunks they follow and of no others."""

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from anyio import ClosedResourceError
from mcp.client.subscriptions import Subscription
from mcp.server.subscriptions import InMemorySubscriptionBus
from mcp.shared.exceptions import MCPDeprecationWarning, MCPError
from mcp.shared.subscriptions import ResourcesListChanged, ResourceUpdated

from indexes import following
from indexes.publish.current import read_current, write_current
from schemas.changes import FeedChange, FeedEntry, FeedKind
from schemas.nodes import Chunk
from schemas.settings import Settings
from sitegraph.service.guard import RequestLimits
from sitegraph.service.mcp_ import subscriptions as subscriptions_
from sitegraph.service.mcp_.subscriptions import Subscriptions, changed_since
from sitegraph.service.mcp_.tools import read_known
from sitegraph.service.parts import Parts, open_service_parts
from sitegraph.service.problems import HttpProblem
from tests.fakes.governance import governance_documents
from tests.fakes.mcp_clients import SECONDS, AgentClient, connected, over_stdio
from tests.fakes.next_generation import publish_next
from tests.fakes.running_service import running
from tests.fakes.small_index import Document

GONE, KEPT = "Records are kept for seven years.", "Legal hold suspends"
ALSO_GONE = ("Tape robots answer", "Fewer checkpoints write")


def chunk_with(text: str) -> Chunk:
    return next(c for _, found in governance_documents()[0] for c in found if text in c.text)


def uri_of(chunk: Chunk) -> str:
    return f"sitegraph://chunk/{chunk.id.removeprefix('chunk:')}"


def without_policy() -> list[Document]:
    """The documents without some passages; the second of the first document stays as it was."""
    (nodes, found), *rest, _pdf = governance_documents()[0]
    others = [one for one in rest if not one[1][0].text.startswith(ALSO_GONE)]
    kept = tuple(chunk for chunk in found if KEPT in chunk.text)
    return [(nodes, kept), *others]


def subscribe(agent: AgentClient, uri: str) -> None:
    """As clients do before 2026-07-28."""
    with pytest.warns(MCPDeprecationWarning):
        agent.portal.call(agent.client.session.subscribe_resource, uri)


class Session:
    """A connection before 2026-07-28, which keeps what it is told, and fails at some of it."""

    def __init__(self, *, fails_at: str = "") -> None:
        self.told: list[str] = []
        self._fails_at = fails_at

    async def send_resource_updated(self, uri: str) -> None:
        if uri == self._fails_at:
            raise ClosedResourceError
        self.told.append(uri)


@contextmanager
def parts_of(index: Path) -> Iterator[Parts]:
    """What a server is made over, without a server: the test says when it looks."""
    with open_service_parts(Settings(index=str(index)), RequestLimits()) as parts:
        yield parts


def until(holds: Callable[[], bool]) -> bool:
    """Whether something comes true; the time only bounds a hang."""
    end = time.monotonic() + SECONDS
    while not holds() and time.monotonic() < end:
        time.sleep(0.05)
    return holds()


def test_a_client_is_told_when_a_chunk_that_it_subscribed_to_goes_and_comes_back(copy: Path) -> None:
    with connected(over_stdio(copy), mode="legacy") as agent:
        for text in (GONE, KEPT):
            subscribe(agent, uri_of(chunk_with(text)))
        publish_next(copy, without_policy())
        assert until(lambda: agent.updated() == [uri_of(chunk_with(GONE))])
        write_current(copy, 1)
        assert until(lambda: agent.updated() == [uri_of(chunk_with(GONE))] * 2)
        with pytest.warns(MCPDeprecationWarning):
            agent.portal.call(agent.client.session.unsubscribe_resource, uri_of(chunk_with(GONE)))
        write_current(copy, 2)
        assert "generation 2 has no chunk:" in agent.refusal("fetch", id=chunk_with(GONE).id)
        time.sleep(3)  # three times as long as the server takes to look
        assert len(agent.updated()) == 2


def test_a_client_is_told_of_what_it_has_fetched_without_asking(copy: Path) -> None:
    fetched, shown, read, kept = map(chunk_with, (GONE, *ALSO_GONE, KEPT))
    with connected(over_stdio(copy), mode="legacy") as agent:
        agent.ask("fetch", id=fetched.id)
        agent.ask("show_citation", id=shown.id)
        for chunk in (read, kept):
            agent.read(uri_of(chunk))
        publish_next(copy, without_policy())
        assert until(lambda: len(agent.updated()) >= 3)
        assert sorted(agent.updated()) == sorted(map(uri_of, (fetched, shown, read)))


def test_a_publish_is_told_once_readers_are_of_it_however_long_that_takes(
    copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, may_open, readers_of = threading.Event(), threading.Event(), following.readers_of

    def slowly(*arguments: Any, **options: Any) -> Any:
        begun.set()
        assert may_open.wait(SECONDS)
        return readers_of(*arguments, **options)

    async def follow(parts: Parts) -> None:
        session: Any = Session()
        subscriptions = Subscriptions(parts)
        await subscriptions.subscribe(session, uri_of(chunk_with(GONE)))
        publish_next(copy, without_policy())
        monkeypatch.setattr(following, "readers_of", slowly)
        opening = asyncio.create_task(
            asyncio.to_thread(parts.retriever.read, lambda readers: readers.generation)
        )
        await asyncio.to_thread(begun.wait, SECONDS)
        await subscriptions.look()
        assert session.told == []
        may_open.set()
        assert await opening == 2
        await subscriptions.look()
        assert session.told == [uri_of(chunk_with(GONE))]

    with parts_of(copy) as parts:
        asyncio.run(follow(parts))


def test_what_one_client_cannot_be_told_keeps_nothing_else_from_it(copy: Path) -> None:
    lost, *others = sorted(uri_of(chunk_with(text)) for text in (GONE, *ALSO_GONE))
    said: list[str] = []

    async def follow(parts: Parts) -> None:
        session: Any = Session(fails_at=lost)
        subscriptions = Subscriptions(replace(parts, warn=said.append))
        for uri in (lost, *others):
            await subscriptions.subscribe(session, uri)
        publish_next(copy, without_policy())
        await subscriptions.look()
        assert sorted(session.told) == others
        await subscriptions.look()
        assert sorted(session.told) == others

    with parts_of(copy) as parts:
        asyncio.run(follow(parts))
    assert len(said) == 1
    assert f"cannot be told that {lost} changed: ClosedResourceError" in said[0]


def test_a_look_that_fails_is_said_once_and_is_not_the_last_one(
    copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    looks = [0]

    def generation(_: Parts) -> int:
        looks[0] += 1
        if looks[0] <= 3:
            raise ValueError("no number")
        return read_current(copy)

    async def follow(parts: Parts) -> None:
        session: Any = Session()
        subscriptions = Subscriptions(replace(parts, warn=said.append))
        async with subscriptions.following():
            await subscriptions.subscribe(session, uri_of(chunk_with(GONE)))
            publish_next(copy, without_policy())
            assert await asyncio.to_thread(until, lambda: bool(session.told))

    monkeypatch.setattr(subscriptions_, "POLL_SECONDS", 0.01)
    monkeypatch.setattr(Parts, "generation", generation)
    with parts_of(copy) as parts:
        asyncio.run(follow(parts))
    assert said == ["sitegraph: warning: MCP clients are not told of changes now: ValueError('no number')"]


def test_a_passage_fetched_from_a_generation_that_is_over_hides_no_publish_from_streams(
    copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bus, heard = InMemorySubscriptionBus(), []
    monkeypatch.setattr(subscriptions_, "InMemorySubscriptionBus", lambda: bus)
    bus.subscribe(heard.append)

    async def follow(parts: Parts) -> None:
        session: Any = Session()
        subscriptions = Subscriptions(parts)
        await subscriptions.subscribe(session, uri_of(chunk_with(KEPT)))
        publish_next(copy, without_policy())
        for text in (GONE, ALSO_GONE[0]):
            await subscriptions.remember(session, chunk_with(text).id, generation=1)
            await subscriptions.look()
            await subscriptions.look()
        assert session.told == [uri_of(chunk_with(text)) for text in (GONE, ALSO_GONE[0])]
        assert heard.count(ResourcesListChanged()) == 1

    with parts_of(copy) as parts:
        asyncio.run(follow(parts))


@contextmanager
def listening(agent: AgentClient, *uris: str) -> Iterator[list[Any]]:
    """What a client hears that listens; the stream ends with the block."""
    heard: list[Any] = []

    async def collect(stream: Subscription) -> None:
        async for event in stream:
            heard.append(event)

    stream = agent.client.listen(resource_subscriptions=uris, resources_list_changed=True)
    with agent.portal.wrap_async_context_manager(stream) as opened:
        task = agent.portal.start_task_soon(collect, opened)
        yield heard
        task.cancel()


@pytest.mark.parametrize("over", ["stdio", "http"])
def test_a_client_that_listens_is_told_over_both_transports(copy: Path, over: str) -> None:
    gone, kept = chunk_with(GONE), chunk_with(KEPT)
    told = [ResourceUpdated(uri_of(gone)), ResourcesListChanged()]

    def listen_on(server: Any) -> None:
        with connected(server) as agent, listening(agent, uri_of(gone), uri_of(kept)) as heard:
            publish_next(copy, without_policy())
            assert until(lambda: ResourcesListChanged() in heard)
            assert heard == told

    if over == "stdio":
        listen_on(over_stdio(copy))
        return
    with running(copy, "--workers", "2") as (_, port):
        listen_on(f"http://127.0.0.1:{port}/mcp")


def test_a_resource_that_is_none_cannot_be_followed(copy: Path) -> None:
    with connected(over_stdio(copy), mode="legacy") as agent:
        for uri in ("file:///etc/passwd", "sitegraph://chunk/short"):
            with pytest.raises(MCPError, match="no resource of this server"):
                subscribe(agent, uri)
    with connected(over_stdio(copy)) as agent:
        too_many = [f"{uri_of(chunk_with(GONE))}#{number}" for number in range(1001)]
        with pytest.raises(MCPError, match="at most 1000 are followed"), listening(agent, *too_many):
            pass


def test_the_service_ends_while_a_client_listens_and_says_so(copy: Path) -> None:
    with running(copy, "--workers", "1") as (process, port):
        with connected(f"http://127.0.0.1:{port}/mcp") as agent:
            stream = agent.client.listen(resource_subscriptions=[uri_of(chunk_with(GONE))])
            with agent.portal.wrap_async_context_manager(stream) as opened:

                async def drain() -> str:
                    async for _ in opened:
                        pass
                    return "ended"

                task = agent.portal.start_task_soon(drain)
                process.terminate()
                assert task.result(SECONDS) == "ended"
        assert process.wait(SECONDS) == 0


def test_of_an_id_that_is_gone_a_client_is_told_what_became_of_it(copy: Path) -> None:

    entry = FeedEntry(
        kind=FeedKind.CHUNK,
        change=FeedChange.REPLACED,
        old_id="chunk:old",
        new_id="chunk:new",
        source="manual",
        uri="files://manual/a.md",
        reason="r",
        generation=7,
    )

    class Parts:
        retriever = type("R", (), {"read": staticmethod(lambda ask: ask(None))})

        @staticmethod
        def last_change(id_: str) -> FeedEntry:
            return entry

    def missing(_: Any) -> None:
        raise HttpProblem(404, "generation 8 has no chunk:old", "NotFound")

    with pytest.raises(HttpProblem, match="replaced by chunk:new in generation 7"):
        read_known(Parts, "chunk:old", missing)  # type: ignore[arg-type]


def test_what_changed_is_decided_by_the_digests_of_what_was_followed_all_along() -> None:
    before = {"same": "1", "new text": "1", "gone": "1", "back": None}
    now = {"same": "1", "new text": "2", "gone": None, "back": "1", "followed since": "1"}
    assert changed_since(before, now) == ("new text", "gone", "back")
