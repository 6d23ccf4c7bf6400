"""What a run cost, for a person: one line, the dearest causes first."""

from collections.abc import Iterator, Mapping
from typing import Any

CAUSES_TOLD = 5
"""So many causes a person is told; `--format json` has every one."""

_TOLD = {"documents": "documents linked", "chunks": "chunks written for their text, date or place"}
"""What is done to rows; of a document that changed every passage has a new date, and those behind the change
another place.
"""


def told_cost(cost: Mapping[str, Any] | None) -> str | None:
    """Say what a run cost; None where its report says nothing of it, as those of older versions."""
    if not cost or not cost["causes"]:
        return None
    causes = sorted(cost["causes"].items(), key=lambda one: -one[1]["cpu"])
    dearest = ", ".join(f"{name} {spent['cpu']:.1f}" for name, spent in causes[:CAUSES_TOLD])
    return f"cost {cost['total']['cpu']:.1f} CPU seconds ({dearest}); {', '.join(_rows(cost['rows']))}"


def _rows(rows: Mapping[str, Mapping[str, int]]) -> Iterator[str]:
    for table, words in _TOLD.items():
        one = rows.get(table, {})
        yield f"{one.get('touched', 0):,} of {one.get('there', 0):,} {words}"
