"""Rows that the stores hold against rows that were derived again, as records in id order."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

Record = Mapping[str, Any]

_SHOWN = 60
"""Characters of a value that a difference shows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deviation:
    """One row, document or vector that is not what its bytes give; `doc` is the document it belongs to."""

    table: str
    id: str
    what: str
    doc: str = ""


def compare_rows(table: str, held: Iterable[Record], derived: Iterable[Record]) -> Iterator[Deviation]:
    """Yield what differs between two streams of records, each in id order."""
    left, right = iter(held), iter(derived)
    one, other = next(left, None), next(right, None)
    while one is not None or other is not None:
        if other is None or (one is not None and one["id"] < other["id"]):
            assert one is not None
            yield _difference(table, one, "is in the store, and its bytes do not give it")
            one = next(left, None)
        elif one is None or other["id"] < one["id"]:
            yield _difference(table, other, "is missing: its bytes give it")
            other = next(right, None)
        else:
            if one != other:
                yield _difference(table, one, differing_fields(one, other))
            one, other = next(left, None), next(right, None)


def differing_fields(held: Record, derived: Record) -> str:
    """Say which fields differ, and how the first of them does."""
    names = [name for name in sorted({*held, *derived}) if held.get(name) != derived.get(name)]
    first = names[0]
    others = f", and {', '.join(names[1:])}" if len(names) > 1 else ""
    return f"{first} is {_shown(held.get(first))}, its bytes give {_shown(derived.get(first))}{others}"


def _difference(table: str, record: Record, what: str) -> Deviation:
    return Deviation(table=table, id=record["id"], what=what, doc=record.get("doc") or "")


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
