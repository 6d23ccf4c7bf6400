"""What is read of threads that are none of Python's, from files as /proc has them."""

import pytest

from runtime import readings
from schemas.cost import Spent

TASK = 4_000_000
"""A number above those that Linux gives out."""


def test_of_a_thread_that_slept_only_its_time_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    files = {"schedstat": "2000000000 5 7", "io": "rchar: 10\nwchar: 20\n", "comm": "pool\n"}
    asked: list[str] = []

    def text(path: str) -> str:
        asked.append(path.rpartition("/")[2])
        return files[asked[-1]]

    monkeypatch.setattr(readings.os, "listdir", lambda _folder: [str(TASK)])
    monkeypatch.setattr(readings, "_text", text)
    names: dict[int, str] = {}

    first = readings.read_pools(names, set(), {})
    asked.clear()
    files["io"] = "rchar: 11\nwchar: 21\n"
    slept = readings.read_pools(names, set(), first)
    assert (slept, asked) == (first, ["schedstat"])

    files["schedstat"] = "3000000000 6 8"
    assert readings.read_pools(names, set(), slept) == {TASK: Spent(cpu=3.0, read=11, written=21)}
    assert names == {TASK: "pool"}
