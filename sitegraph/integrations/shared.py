"""What retrievers for frameworks share: an index opened when it is first asked, and what a document says."""

import os
import threading
from typing import Any

from retrieval.bundle.render import cite_line
from schemas.evidence import Evidence
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


def evidence_metadata(found: Evidence, *, generation: int) -> dict[str, Any]:
    """Return the metadata of a piece of evidence: JSON values alone, without what it does not have.

    `citation` opens at the passage, where it is a URL; `page` counts from 1, `bbox` is x0, y0, x1, y1 in
    points from the top left of the page. `version` is that of a manual with several.
    """
    located = found.pdf
    box = located.bbox if located else None
    named = {
        "chunk_id": found.chunk_id,
        "label": found.S,
        "citation": cite_line(found, located),
        "document": found.doc,
        "document_id": found.doc_id,
        "kind": found.kind,
        "url": found.url,
        "fragment": found.fragment,
        "text_fragment": found.text_fragment,
        "file_path": found.file_path,
        "heading_path": list(found.heading_path),
        "page": located.page if located else None,
        "bbox": [box.x0, box.y0, box.x1, box.y1] if box else None,
        "score": found.score,
        "source": found.source.value,
        "last_modified": found.last_modified,
        "stale": found.stale,
        "version": found.versions.version if found.versions else None,
        "generation": generation,
    }
    return {name: value for name, value in named.items() if value is not None}
