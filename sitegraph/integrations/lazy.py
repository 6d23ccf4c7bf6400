"""An index that a retriever opens when it is first asked."""

import os
import threading

from sitegraph.opened import OpenedIndex, open_index


class LazyIndex:
    """Opens an index once for all threads; a copy, or what is sent to another process, opens its own."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._opened: OpenedIndex | None = None

    def get(self, index: str | os.PathLike[str] | OpenedIndex) -> OpenedIndex:
        """Return *index* if it is opened already, else open it, or return what was opened before.

        Raises: as `open_index`.
        """
        if isinstance(index, OpenedIndex):
            return index
        with self._lock:
            if self._opened is None:
                self._opened = open_index(index)
            return self._opened

    def close(self) -> None:
        """Close what was opened here; the next `get` opens it again."""
        with self._lock:
            opened, self._opened = self._opened, None
        if opened is not None:
            opened.close()

    def __reduce__(self) -> tuple[type["LazyIndex"], tuple[()]]:
        return LazyIndex, ()
