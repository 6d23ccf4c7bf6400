"""An index held open for long: readers of whatever generation is current when they are asked for."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from indexes.layout import IndexLayout, load_manifest
from indexes.publish.current import Pointer, read_current, read_pointer
from indexes.wiring import OpenedStores, Readers, readers_of
from schemas.settings import Settings

GRAPH = "graph"
EARLIER_KEPT = 2
"""Generations before the current one that are held open, of those that somebody asked for."""
RETRY_SECONDS = 10.0
"""How long a graph server that did not answer is left alone before it is asked again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Held:
    readers: Readers
    opened_at: float
    pointer: Pointer


@dataclass(slots=True, kw_only=True)
class _Earlier:
    """Stores of one generation before the current one, and how many ask them now."""

    stores: OpenedStores
    readers: Readers
    asking: int = 0


class FollowedIndex:
    """Opens an index once and follows `CURRENT`; any number of threads may ask, and of processes.

    Stores, encoder and caches are shared by all generations; of readers only the newest are kept, and
    a query that began on older ones ends on them.

    Args: cache_mb: memory for the caches of the stores. clock: monotonic seconds.
    """

    def __init__(self, index: Path, *, settings: Settings, cache_mb: int, clock: Callable[[], float]) -> None:
        self._layout = IndexLayout(index)
        self._settings = settings
        self._cache_mb = cache_mb
        self._clock = clock
        self._lock = threading.Lock()
        # Held for moments only: who has its answer waits for nobody who opens a generation.
        self._counting = threading.Lock()
        self._stores: OpenedStores | None = None
        self._held: _Held | None = None
        self._earlier: OrderedDict[int, _Earlier] = OrderedDict()

    @property
    def root(self) -> Path:
        """The folder of the index."""
        return self._layout.root

    def readers(self) -> Readers:
        """Return readers of the current generation; take them once per query.

        While one thread opens a new generation, the others are still given the one before.

        Raises: what `open_readers` raises.
        """
        held = self._held
        if held is not None and not self._is_due(held):
            return held.readers
        if not self._lock.acquire(blocking=held is None):
            assert held is not None
            return held.readers
        try:
            if self._held is None or self._is_due(self._held):
                self._held = self._open()
            return self._held.readers
        finally:
            self._lock.release()

    @contextmanager
    def readers_at(self, generation: int) -> Iterator[Readers]:
        """Give readers of one generation to the block, also of one before the current one while that is kept.

        What those read is not held in memory, so that a question about the past costs others nothing. Their
        connections are closed once other generations have taken their place and no block is left.
        Raises: as `readers`; DamageFound, StoreUnavailable: it was pruned meanwhile.
        """
        current = self.readers()
        if current.generation == generation:
            yield current
            return
        earlier = self._enter(generation)
        try:
            yield earlier.readers
        finally:
            with self._counting:
                earlier.asking -= 1
                is_unused = self._is_unused(earlier)
            if is_unused:
                earlier.stores.close()

    def _enter(self, generation: int) -> _Earlier:
        with self._lock:
            earlier = self._earlier.get(generation) or self._open_earlier(generation)
            with self._counting:
                earlier.asking += 1
                self._earlier[generation] = earlier
                self._earlier.move_to_end(generation)
            self._close_earlier(kept=EARLIER_KEPT)
            return earlier

    def _open_earlier(self, generation: int) -> _Earlier:
        assert self._stores is not None
        stores = self._stores.apart()
        try:
            return _Earlier(stores=stores, readers=readers_of(stores, generation=generation))
        except BaseException:
            stores.close()
            raise

    def _close_earlier(self, *, kept: int) -> None:
        """Hold fewer; those that are being asked are closed by the last who asks."""
        with self._counting:
            left = [self._earlier.popitem(last=False)[1] for _ in range(len(self._earlier) - kept)]
            unused = [earlier for earlier in left if self._is_unused(earlier)]
        for earlier in unused:
            earlier.stores.close()

    def _is_unused(self, earlier: _Earlier) -> bool:
        return not earlier.asking and all(earlier is not held for held in self._earlier.values())

    def renew(self, failed: Readers) -> Readers | None:
        """Return readers opened again after a store failed on *failed*; None if that would be the same again.

        It is not where a generation was pruned under a slow query, or the index was made again.
        """
        with self._lock:
            if self._held is not None and self._held.readers is not failed:
                return self._held.readers
            if read_current(self._layout.root) == failed.generation and not self._is_replaced():
                return None
            self._held = self._open()
            return self._held.readers

    def leave_graph(self, failed: Readers) -> None:
        """Return readers without a graph for a while: its server did not answer one that had *failed*."""
        with self._lock:
            if self._held is not None and self._held.readers is failed:
                readers = replace(failed, graph=None, degraded=tuple(sorted({*failed.degraded, GRAPH})))
                self._held = replace(self._held, readers=readers, opened_at=self._clock())

    def close(self) -> None:
        """Let go of what is held; it is opened again on use."""
        with self._lock:
            stores, self._stores, self._held = self._stores, None, None
            self._close_earlier(kept=0)
        if stores is not None:
            stores.close()

    def _is_due(self, held: _Held) -> bool:
        if held.pointer != read_pointer(self._layout.root):
            return True
        return GRAPH in held.readers.degraded and self._clock() - held.opened_at >= RETRY_SECONDS

    def _is_replaced(self) -> bool:
        if self._stores is None or self._stores.manifest != load_manifest(self._layout):
            return True
        # Rows are remembered by the number, which an audience that is dropped and built again has once more.
        held, now = self._held, read_pointer(self._layout.root)
        return held is not None and held.pointer != now and held.pointer.generation == now.generation

    def _open(self) -> _Held:
        """Open the current generation, with new stores if the index is another one than before."""
        pointer = read_pointer(self._layout.root)
        if self._stores is None or self._is_replaced():
            before = self._stores
            self._close_earlier(kept=0)  # of another index
            self._stores = OpenedStores(self._layout.root, self._settings, cache_mb=self._cache_mb)
            if before is not None:
                before.close()
        return _Held(readers=readers_of(self._stores), opened_at=self._clock(), pointer=pointer)
