"""The authority of documents, a table for each generation, in a file of its own."""

from collections.abc import Collection, Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from indexes.places import write_durably

_SUFFIX = ".arrow"
_SCHEMA = pa.schema([pa.field("node", pa.string()), pa.field("value", pa.float64())])


class FileAuthorityStore:
    """Keeps the port AuthorityStore as `<generation>.arrow` in a folder or a bucket; each appears whole."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def at(self, generation: int) -> "FileAuthorityReader":
        return FileAuthorityReader(self._path(generation))

    def put(self, generation: int, values: Mapping[str, float]) -> None:
        table = pa.table({"node": list(values), "value": list(values.values())}, schema=_SCHEMA)
        data = pa.BufferOutputStream()
        with pa.ipc.new_file(data, _SCHEMA) as writer:
            writer.write_table(table)
        write_durably(self._path(generation), data.getvalue().to_pybytes())

    def prune(self, *, keep: Collection[int]) -> None:
        """Forget generations other than *keep*, and what a crash left."""
        kept = {self._path(generation) for generation in keep}
        for path in sorted(self._folder.glob("*")):
            if path not in kept:
                path.unlink(missing_ok=True)

    def _path(self, generation: int) -> Path:
        return self._folder / f"{generation}{_SUFFIX}"


class FileAuthorityReader:
    """An AuthorityReader over one file, which is read at the first question."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._table: pa.Table | None = None

    def of(self, docs: Collection[str]) -> Mapping[str, float]:
        if self._table is None:
            self._table = _read(self._path)
        wanted = sorted(set(docs))
        found = pc.index_in(pa.array(wanted, pa.string()), value_set=self._table.column("node")).to_pylist()
        values = self._table.column("value")
        pairs = zip(wanted, found, strict=True)
        return {doc: values[place].as_py() for doc, place in pairs if place is not None}


def _read(path: Path) -> pa.Table:
    """The table of a file; an empty one where it is missing or damaged: authority is a tenth of a score."""
    try:
        with path.open("rb") as file:
            table = pa.ipc.open_file(file).read_all()
    except (OSError, pa.ArrowInvalid):
        return _SCHEMA.empty_table()
    return table if table.schema.equals(_SCHEMA) else _SCHEMA.empty_table()
