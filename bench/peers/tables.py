"""What a contestant keeps: rows of its table in LanceDB, versions, bytes; and taking rows away from it."""

import random
from collections.abc import Iterator
from pathlib import Path

import lancedb
from lancedb.table import Table

from bench.peers.racing import Contestant
from bench.peers.truth import Row
from indexes.places import folder_bytes
from indexes.publish.current import read_current
from indexes.stores.lance.tables import tag_of
from schemas.text import encoded_text

OURS = "index"


def rows_of(contestant: Contestant, state: Path) -> Iterator[Row]:
    """Yield document and encoded text of each row that readers see."""
    table = _open(state)
    if table is None:
        return
    if contestant.takes_chunks:
        column = contestant.document
        names = _parents(table, column) if "." in column else table.to_arrow()[column].to_pylist()
        yield from zip(names, table.to_arrow()["text"].to_pylist(), strict=True)
        return
    table.checkout(_tag(state))
    for row in table.to_arrow().select(["file_path", "heading_path", "text"]).to_pylist():
        yield row["file_path"], encoded_text(tuple(row["heading_path"]), row["text"])


def version_of(state: Path) -> int:
    """Return the number of the last version of the table, 0 where there is none."""
    table = _open(state)
    return table.version if table else 0


def drop_rows(state: Path, share: float, *, seed: int) -> int:
    """Delete such a share of the rows without anybody's knowledge; return how many.

    Our readers see a named version, so the name is moved to the damaged one.
    """
    table = _open(state)
    assert table is not None
    ids = sorted(table.to_arrow()["id"].to_pylist())
    gone = random.Random(seed).sample(ids, max(1, round(len(ids) * share)))
    table.delete(f"id IN ({', '.join(map(_quoted, gone))})")
    if (state / OURS).exists():
        table.tags.update(_tag(state), table.version)
    return len(gone)


def size_of(state: Path) -> int:
    """Bytes of all that it keeps."""
    return folder_bytes(state)


def _open(state: Path) -> Table | None:
    folder = state / OURS / "lance" if (state / OURS).exists() else state / "lance"
    if not (folder / "chunks.lance").exists():
        return None
    return lancedb.connect(str(folder)).open_table("chunks")


def _tag(state: Path) -> str:
    return tag_of(read_current(state / OURS))


def _parents(table: Table, column: str) -> list[str]:
    outer, _, inner = column.partition(".")
    return [value[inner] for value in table.to_arrow()[outer].to_pylist()]


def _quoted(key: str | int) -> str:
    return str(key) if isinstance(key, int) else f"'{key}'"
