"""What a small change of a large table costs: rows merged, against rows replaced where they stand.

    python -m bench.small_changes INDEX [--table edges]

INDEX is the folder of an index, such as `bench.scale` leaves; its table is copied first. Rows taken from all
over the table are written again, so many in a thousand, in turn by both ways, with the reading of the same
rows that a run does afterwards, in CPU seconds of this process. Prints one JSON object.
"""

import argparse
import json
import random
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from unittest.mock import patch

import lancedb
import pyarrow as pa

from indexes.stores.lance import scan, staging
from indexes.stores.lance.scan import one_of
from indexes.stores.lance.staging import StagedTable
from indexes.stores.lance.tables import CHUNKS, EDGES, NODES
from indexes.table_files import tag_of

SHARES = (0.1, 1, 5, 10, 30)
"""Changed rows in a thousand."""


def main() -> None:
    """Copy the table, change it by both ways, print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("index", type=Path)
    parser.add_argument("--table", choices=(CHUNKS, NODES, EDGES), default=EDGES)
    options = parser.parse_args()
    name = f"{options.table}.lance"
    if not (options.index / "lance" / name).is_dir():
        parser.error(f"{options.index} is no index with a local table of {options.table}")
    with tempfile.TemporaryDirectory(dir=options.index.parent) as folder:
        shutil.copytree(options.index / "lance" / name, Path(folder) / name)
        print(json.dumps(measure(lancedb.connect(folder), options.table)))


def measure(database: lancedb.DBConnection, name: str) -> dict[str, object]:
    """CPU seconds of both, and of what is replaced for each second of a merge, by share."""
    table = database.open_table(name)
    rows, ids = table.count_rows(), table.search().select(["id"]).to_arrow().column("id").to_pylist()
    table.tags.create(tag_of(1_000_000), table.version)
    numbers, by_share = count(1_000_001), {}
    for share in SHARES:
        changed = random.Random(share).sample(ids, max(1, round(rows * share / 1000)))
        batches = scan.read(table, one_of("id", changed), table.schema.names).to_batches()
        merged = _timed(database, table, batches, next(numbers), most=lambda _rows: -1)
        replaced = _timed(database, table, batches, next(numbers), most=lambda rows: rows)
        by_share[f"{len(changed)} rows"] = {
            "merged": merged,
            "replaced": replaced,
            "ratio": round(replaced / merged, 2),
        }
    return {"table": name, "rows": rows, "changes": by_share}


def _timed(
    database: lancedb.DBConnection,
    table: lancedb.table.Table,
    batches: list[pa.RecordBatch],
    number: int,
    *,
    most: Callable[[int], int],
) -> float:
    written = StagedTable(database, table.name, table.schema)
    written.stage(number, base=1_000_000)
    with patch.object(staging, "most_replaced", most):
        started = time.process_time()
        written.apply_batches(iter(batches), ())
        for page in _ids(batches):
            scan.read(written.table, one_of("id", page), scan.COUNTED)
        return round(time.process_time() - started, 3)


def _ids(batches: list[pa.RecordBatch]) -> Iterator[list[str]]:
    return scan.pages([key for batch in batches for key in batch.column("id").to_pylist()], size=10_000)


if __name__ == "__main__":
    main()
