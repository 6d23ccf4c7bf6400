"""Clients that want to hear of chunks, and are told when a publish or a rollback changes or removes one.

Since MCP 2026-07-28 a client listens on a stream (`subscriptions/listen`), over stdio and HTTP. Before, it
subscribed to single resources on a connection, which over HTTP may lead to another worker each time: so only
over stdio, where what a client fetched is followed, too.
"""

import asyncio
from collections import Counter, OrderedDict
from collections.abc import AsyncIterator, Collection, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any

from mcp.server.context import ServerRequestContext
from mcp.server.session import ServerSession
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    ResourcesListChanged,
    ResourceUpdated,
)
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    SubscriptionsListenRequestParams,
    SubscriptionsListenResult,
)

from indexes.wiring import Readers
from schemas.errors import SitegraphError
from sitegraph.service.guard import DEADLINE
from sitegraph.service.items import resource_uri
from sitegraph.service.mcp_.resources import PAGE_TEMPLATE, chunk_of_uri, digest_chunks
from sitegraph.service.parts import Parts
from sitegraph.service.problems import HttpProblem

POLL_SECONDS = 1.0
STREAMS_MAX = 64
URIS_MAX = 1000
"""Of one stream or connection; the oldest that was only fetched makes room."""

CHUNKS_MAX = 10_000
"""Of all clients of one process: each is read again after a publish."""

_Digests = dict[str, str | None]


class Subscriptions:
    """Follows the chunks that clients of one server want to hear of; lives on its event loop."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._bus = InMemorySubscriptionBus()
        self._listen = ListenHandler(self._bus, max_subscriptions=STREAMS_MAX)
        self._streams = 0
        self._watched: Counter[str] = Counter()
        self._digests: _Digests = {}
        self._checked: int | None = None
        self._must_look = False
        self._session: ServerSession | None = None
        self._subscribed: set[str] = set()
        self._fetched: OrderedDict[str, None] = OrderedDict()

    async def listen(
        self, ctx: ServerRequestContext[Any, Any], params: SubscriptionsListenRequestParams
    ) -> SubscriptionsListenResult:
        """Serve a stream of events for as long as its client likes."""
        uris = params.notifications.resource_subscriptions or []
        ids = _chunks_of(uris)
        deadline = ctx.request.scope.get(DEADLINE) if ctx.request is not None else None
        if deadline is not None:
            deadline.reschedule(None)
        self._streams += 1
        try:
            if self._checked is None:
                self._checked = await asyncio.to_thread(self._parts.generation)
            await self._watch(ids)
            try:
                return await self._listen(ctx, params)
            finally:
                self._unwatch(ids)
        finally:
            self._streams -= 1

    async def subscribe(self, session: ServerSession, uri: str) -> None:
        """Tell the client of this connection of a resource from now on.

        Raises: MCPError: there are too many, or it names no resource.
        """
        (id_,) = _chunks_of([uri])
        if uri in self._subscribed:
            return
        if len(self._subscribed) >= URIS_MAX:
            raise MCPError(INVALID_PARAMS, f"more than {URIS_MAX} subscriptions; unsubscribe from some")
        self._session = session
        self._subscribed.add(uri)
        try:
            await self._watch([id_])
        except BaseException:
            self._subscribed.discard(uri)
            raise

    async def unsubscribe(self, uri: str) -> None:
        """Say nothing of a resource any more."""
        if uri in self._subscribed:
            self._subscribed.discard(uri)
            self._unwatch(_chunks_of([uri]))

    async def remember(self, session: ServerSession, id_: str, *, generation: int) -> None:
        """Tell the client of this connection when a chunk changes that it has read in *generation*."""
        self._session = session
        if id_ in self._fetched:
            self._fetched.move_to_end(id_)
            return
        self._fetched[id_] = None
        try:
            await self._watch([id_], generation=generation)
        except BaseException:
            self._fetched.pop(id_, None)
            raise
        if len(self._fetched) > URIS_MAX:
            oldest, _ = self._fetched.popitem(last=False)
            self._unwatch([oldest])

    def leave(self) -> None:
        """End all streams as the protocol has it: with a result."""
        self._listen.close()

    @asynccontextmanager
    async def following(self) -> AsyncIterator[None]:
        """Look for new generations while the block runs."""
        task = asyncio.ensure_future(self._follow())
        try:
            yield
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    async def _follow(self) -> None:
        said = ""
        while True:
            await asyncio.sleep(POLL_SECONDS)
            try:
                await self.look()
            except (SitegraphError, HttpProblem, OSError):
                continue  # said to whoever asks; here it is tried again
            except Exception as error:  # noqa: BLE001 - a look that fails must not be the last one
                if repr(error) != said:  # not again each second
                    said = repr(error)
                    self._parts.warn(f"sitegraph: warning: MCP clients are not told of changes now: {said}")
                continue
            said = ""

    async def look(self) -> None:
        """Compare what readers see with what clients were given, if the generation is another one.

        While a thread opens that generation, readers are of the one before, and the next look compares.
        """
        if not self._watched and not self._streams:
            self._checked = None
            return
        current = await asyncio.to_thread(self._parts.generation)
        if current == self._checked and not self._must_look:
            return
        read_in, digests = await self._read(tuple(self._digests))
        if read_in != current:
            return
        for id_ in changed_since(self._digests, digests):
            await self._tell(id_)
            if id_ in self._digests:  # else it was left while the client was told
                self._digests[id_] = digests[id_]
        before, self._checked = self._checked, current
        # Chunks that are followed since the rows were read may be of the generation before.
        self._must_look = not self._digests.keys() <= digests.keys()
        if before is not None and before != current:
            await self._bus.publish(ResourcesListChanged())

    async def _tell(self, id_: str) -> None:
        for uri in (resource_uri(id_), _page_uri(id_)):
            await self._bus.publish(ResourceUpdated(uri))
            fetched = id_ in self._fetched and uri == resource_uri(id_)
            if self._session is not None and (uri in self._subscribed or fetched):
                await self._send(self._session, uri)

    async def _send(self, session: ServerSession, uri: str) -> None:
        """Tell a connection; a failure is said, and what else is to be told goes on."""
        try:
            await session.send_resource_updated(uri)
        except Exception as error:  # noqa: BLE001 - whatever the transport raises
            self._parts.warn(
                f"sitegraph: warning: an MCP client cannot be told that {uri} changed: {error!r}"
            )

    async def _watch(self, ids: Collection[str], *, generation: int | None = None) -> None:
        """Follow chunks; one that was read in a generation that is over counts as changed.

        The next look compares them though the generation may be the one that was checked.
        """
        new = [id_ for id_ in ids if id_ not in self._digests]
        if len(self._watched) + len(new) > CHUNKS_MAX:
            raise MCPError(INVALID_REQUEST, "too many resources are followed here; come again later")
        self._watched.update(ids)
        if not new:
            return
        try:
            read_in, digests = await self._read(tuple(new))
        except BaseException:
            self._unwatch(ids)
            raise
        is_over = generation is not None and generation != read_in
        for id_, digest in digests.items():
            self._digests.setdefault(id_, "" if is_over else digest)
        if self._checked is None:
            self._checked = read_in
        if is_over or read_in != self._checked:
            self._must_look = True

    def _unwatch(self, ids: Iterable[str]) -> None:
        self._watched.subtract(ids)
        self._watched = +self._watched
        for id_ in self._digests.keys() - self._watched.keys():
            del self._digests[id_]

    async def _read(self, ids: tuple[str, ...]) -> tuple[int, _Digests]:
        def read(readers: Readers) -> tuple[int, _Digests]:
            return readers.generation, digest_chunks(readers, ids)

        return await self._parts.threads.run(lambda: self._parts.retriever.read(read))


def changed_since(before: Mapping[str, str | None], now: Mapping[str, str | None]) -> tuple[str, ...]:
    """Return the chunks whose digest is another one; those that came, or left, meanwhile are none."""
    return tuple(id_ for id_, digest in now.items() if id_ in before and before[id_] != digest)


def _chunks_of(uris: Collection[str]) -> list[str]:
    """The chunks that resources are of.

    Raises: MCPError: there are too many, or one is no resource.
    """
    if len(uris) > URIS_MAX:
        raise MCPError(INVALID_PARAMS, f"{len(uris)} resources; at most {URIS_MAX} are followed")
    ids = {uri: chunk_of_uri(uri) for uri in uris}
    wrong = next((uri for uri, id_ in ids.items() if id_ is None), None)
    if wrong is not None:
        raise MCPError(INVALID_PARAMS, f"no resource of this server: {wrong[:200]}")
    return sorted({id_ for id_ in ids.values() if id_ is not None})


def _page_uri(id_: str) -> str:
    return PAGE_TEMPLATE.replace("{id}", id_.removeprefix("chunk:"))
