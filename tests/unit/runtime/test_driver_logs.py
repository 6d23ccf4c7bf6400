"""What a driver writes to a worker's log."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

TRAIN = """
import sys
{before}
import lancedb, pyarrow as pa
vectors = pa.FixedSizeListArray.from_arrays(pa.array([0.5] * 8 * 512, pa.float32()), 8)
table = lancedb.connect(sys.argv[1]).create_table("t", pa.table({{"v": vectors}}))
table.create_index("cosine", vector_column_name="v", num_partitions=4, num_sub_vectors=2)
"""
"""An index over equal vectors: all but one of its partitions are empty, which the driver warns of."""

IN_A_FLOW = "from flows.run.flow_runs import forwarded_logs\nforwarded_logs().__enter__()"


@pytest.mark.parametrize(
    ("before", "stated", "is_told"),
    [("", {}, True), (IN_A_FLOW, {}, False), (IN_A_FLOW, {"LANCEDB_LOG": "warn"}, True)],
)
def test_hints_of_the_driver_are_told_only_to_those_who_ask(
    tmp_path: Path, before: str, stated: dict[str, str], is_told: bool
) -> None:
    environment = {k: v for k, v in os.environ.items() if k not in {"LANCE_LOG", "LANCEDB_LOG"}} | stated
    done = subprocess.run(
        [sys.executable, "-c", TRAIN.format(before=before), tmp_path],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    assert ("WARN" in done.stderr) is is_told
