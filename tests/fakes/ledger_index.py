"""An index that has a ledger and nothing else: enough for what is told from the ledger alone."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from flows.run.index import Index, open_index
from indexes.layout import IndexLayout, IndexManifest, ModelManifest, dump_manifest
from indexes.publish.current import write_current
from schemas.settings import Settings

MODEL = ModelManifest(name="tiny", sha256="0" * 64, dim=8, max_tokens=16)


@contextmanager
def ledger_index(root: Path, *, current: int = 0) -> Iterator[Index]:
    """Make the index and open it for writing."""
    layout = IndexLayout(root)
    root.mkdir(parents=True, exist_ok=True)
    layout.manifest.write_text(dump_manifest(IndexManifest(index_id="i", graph="lance", model=MODEL)))
    write_current(root, current)
    opened = open_index(Settings(index=str(root)))
    try:
        yield opened
    finally:
        opened.close()
