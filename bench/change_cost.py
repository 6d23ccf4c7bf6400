"""What little change costs beside much and ten times as much: digests of tables, and files needed no more.

    python -m bench.change_cost [--edges 130000] [--documents 1000]

The table is that of edges, about 130,000 in a graph of 11,000 chunks. Ten changed pages are 1,300 of them,
1,000 new pages as many as the smaller table has. Digests are those of `finish`, which names a generation,
against a read of all rows; files those of ten changed documents against the sweep over all. CPU seconds of
this process; prints one JSON object.
"""

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import pyarrow as pa

from bench.comparison import Figures, conclude
from flows.commit.publish import collect_garbage, sweep
from flows.run.index import Index
from indexes.digests import follows_change
from indexes.layout import IndexLayout, IndexManifest, ModelManifest
from indexes.ports import StoreState
from indexes.stores.lance import scan
from indexes.stores.lance.staging import StagedTable
from indexes.stores.lance.tables import EDGE_SCHEMA, EDGES, connect, create_table
from indexes.stores.raw import FileRawStore
from runtime.cost import CostMeter
from schemas.cost import Cause, listen
from schemas.documents import DocumentState, KnownDocument
from schemas.edges import EdgeKind
from schemas.ids import sha256_hex
from schemas.settings import Settings

MAX_GROWTH = 1.15
"""How much more ten changed pages, or documents, may cost beside ten times as much."""
BATCH = 20_000
CHANGED_EDGES = 1_300
CHANGED_DOCUMENTS = 10
KINDS = sorted(kind.value for kind in EdgeKind)

T = TypeVar("T")


def main() -> None:
    """Measure both at both sizes, each in new folders."""
    parser = argparse.ArgumentParser(description="Digests and clean-up where little changed.")
    parser.add_argument("--edges", type=int, default=130_000, help="of the smaller graph")
    parser.add_argument("--documents", type=int, default=1_000, help="of the smaller ledger")
    options = parser.parse_args()
    figures: Figures = {"digests": [], "files": []}
    for times in (1, 10):
        with tempfile.TemporaryDirectory() as scratch:
            figures["digests"].append(digests(Path(scratch), options.edges * times, new=options.edges))
        with tempfile.TemporaryDirectory() as scratch:
            figures["files"].append(files(Path(scratch), options.documents * times))
    figures["growth"] = {
        part: round(figures[part][1]["ten_changed_pages"] / figures[part][0]["ten_changed_pages"], 2)
        for part in ("digests", "files")
    }
    misses = [
        f"{part}: {growth} times the CPU time beside ten times as much; the aim is {MAX_GROWTH}"
        for part, growth in figures["growth"].items()
        if growth > MAX_GROWTH
    ]
    conclude(figures, misses)


def digests(folder: Path, rows: int, *, new: int) -> Figures:
    """CPU seconds of the digest of a table of so many rows, after two changes, and read whole."""
    create_table(folder, EDGES, EDGE_SCHEMA)
    staged = StagedTable(connect(folder), EDGES, EDGE_SCHEMA, small_rows=True)
    whole = _publish(staged, 1, range(rows), (), None)[1]
    few = range(CHANGED_EDGES // 2, CHANGED_EDGES)
    gone = [_id(number) for number in range(CHANGED_EDGES // 2)]
    daily, changed = _publish(staged, 2, few, gone, whole, version="2")
    many, grown = _publish(staged, 3, range(rows, rows + new), (), changed)
    read, found = _cpu(lambda: scan.state(staged.table))
    if found.digest != grown.digest:
        raise SystemExit("the digests differ; the figures mean nothing")
    return {
        "rows": rows,
        "ten_changed_pages": daily,
        "thousand_new_pages": many,
        "new_rows_read_alone": follows_change(changed, dict.fromkeys(map(str, range(new)))),
        "all_rows": read,
    }


def _publish(
    staged: StagedTable,
    generation: int,
    numbers: range,
    gone: tuple[str, ...] | list[str],
    before: StoreState | None,
    *,
    version: str = "1",
) -> tuple[float, StoreState]:
    """Stage a generation; CPU seconds of its digest, and what it contains."""
    staged.stage(generation, base=generation - 1)
    staged.apply_batches(_batches(numbers, version), gone)
    meter = CostMeter()
    listen(meter)
    state = staged.finish(generation, before=before)
    return round(meter.read().causes[Cause.DIGESTS].cpu, 3), state


def _batches(numbers: range, version: str) -> Iterator[pa.RecordBatch]:
    for start in range(0, len(numbers), BATCH):
        some = numbers[start : start + BATCH]
        ids = [_id(number) for number in some]
        columns = {
            "id": ids,
            "kind": [KINDS[number % len(KINDS)] for number in some],
            "src": [_id(number // 7) for number in some],
            "dst": [_id(number // 3) for number in some],
            "doc": [_id(number // 130) for number in some],
            "source": ["site"] * len(ids),
            "score": [1.0] * len(ids),
            "props": ["{}"] * len(ids),
            "row_sha256": [sha256_hex(f"{id_} {version}".encode()) for id_ in ids],
        }
        yield pa.RecordBatch.from_pydict(columns, schema=EDGE_SCHEMA)


def files(folder: Path, documents: int) -> Figures:
    """CPU seconds of deleting what ten changed documents replaced, and of the sweep over all files."""
    model = ModelManifest(name="test", sha256="0" * 64, dim=8, max_tokens=256)
    manifest = IndexManifest(index_id="test", graph="lance", model=model)
    index = Index(layout=IndexLayout(folder), manifest=manifest, settings=Settings())
    _fetch(index, range(documents), "1")
    sweep(index)
    _fetch(index, range(CHANGED_DOCUMENTS), "2")
    daily, dropped = _cpu(lambda: collect_garbage(index, source="site"))
    swept, left = _cpu(lambda: sweep(index))
    index.close()
    if (dropped, left) != (2 * CHANGED_DOCUMENTS, 0):
        raise SystemExit(f"{dropped} files went and {left} were left; the figures mean nothing")
    return {"documents": documents, "ten_changed_pages": daily, "sweep": swept}


def _fetch(index: Index, numbers: range, version: str) -> None:
    raw = FileRawStore(index.layout.raw)
    fragments = FileRawStore(index.layout.fragments)
    known = [
        KnownDocument(
            source="site",
            uri=f"https://site.test/{number}",
            state=DocumentState.FETCHED,
            raw_sha=raw.put(f"raw {number} {version}".encode()),
            fragment_sha=fragments.put(f"fragment {number} {version}".encode()),
        )
        for number in numbers
    ]
    index.ledger.documents.save(known)


def _id(number: int) -> str:
    return f"edge:{sha256_hex(str(number).encode())[:26]}"


def _cpu(work: Callable[[], T]) -> tuple[float, T]:
    start = time.process_time()
    result = work()
    return round(time.process_time() - start, 3), result


if __name__ == "__main__":
    main()
