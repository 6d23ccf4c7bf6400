"""Reading a table a part at a time."""

from pathlib import Path

import pyarrow as pa
import pytest

from indexes.lattice_hash import LatticeHash
from indexes.stores.lance import scan
from indexes.stores.lance.tables import NODE_SCHEMA, NODES, connect, create_table
from schemas.errors import DamageFound

IDS = [*(f"page:{n:04x}" for n in range(0, 9000, 37)), "o'neill", "日本:λ", "日本:μ", "Zürich", "", "~"]


def write(folder: Path, ids: list[str]) -> None:
    """A table of nodes, in several fragments."""
    create_table(folder, NODES, NODE_SCHEMA)
    table = connect(folder).open_table(NODES)
    for part in (ids[::2], ids[1::2]):
        rows = [{"id": id_, "kind": f"kind {len(id_) % 3}", "row_sha256": f"sha of {id_}"} for id_ in part]
        table.add(pa.Table.from_pylist(rows, schema=NODE_SCHEMA))


def test_a_table_is_counted_and_digested_alike_whole_and_in_ranges(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, IDS)
    table = connect(tmp_path).open_table(NODES)
    whole = scan.state(table)
    monkeypatch.setattr(scan, "RANGE", 32)
    monkeypatch.setattr(scan, "SAMPLED", 4)

    assert scan.state(table) == whole
    assert whole.rows == LatticeHash().plus((id_, f"sha of {id_}") for id_ in IDS)
    assert sum(whole.counts.values()) == len(IDS)


@pytest.mark.parametrize("rows", [8, 1000])
def test_an_id_in_two_rows_is_found_whatever_is_read_at_once(
    rows: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, [*IDS, IDS[100]])
    monkeypatch.setattr(scan, "RANGE", rows)
    monkeypatch.setattr(scan, "SAMPLED", 4)

    with pytest.raises(DamageFound, match="1 ids occur in two rows"):
        scan.state(connect(tmp_path).open_table(NODES))
