"""A tuning as a record for programs and as a table for people."""

from collections.abc import Iterator
from typing import Any

from retrieval.learning.captured import PARTS
from retrieval.learning.tuning import HalfTable, Tuning
from schemas.records import to_record


def tuning_record(tuning: Tuning) -> dict[str, Any]:
    """Return a tuning as JSON-ready values, shares from 0 to 1."""
    return dict(to_record(tuning))


def render_tuning(tuning: Tuning) -> str:
    """Return weights, the tables of both halves and the gain with its 95 % interval, in points."""
    return "\n".join(_lines(tuning))


def _lines(tuning: Tuning) -> Iterator[str]:
    yield f"{'':28}" + "".join(f"{name:>10}" for name in PARTS)
    for name, weights in (("weights in use", tuning.before), ("weights fitted", tuning.after)):
        yield f"{name:28}" + "".join(f"{getattr(weights, part):10.2f}" for part in PARTS)
    yield ""
    measures = list(tuning.tuned.before)
    yield f"{'':28}" + "".join(f"{name:>10}" for name in measures)
    for name, table in (("tuned on", tuning.tuned), ("held out", tuning.held)):
        yield from _rows(name, table, measures)
    yield ""
    yield f"gain, cross-validated: {tuning.cross_validated}"
    yield f"gain, held out: {tuning.held_out}"
    yield f"{'accepted' if tuning.accepted else 'not accepted'}: {tuning.reason}"


def _rows(name: str, table: HalfTable, measures: list[str]) -> Iterator[str]:
    for when, values in (("before", table.before), ("after", table.after)):
        label = f"{name} ({table.questions}), {when}"
        yield f"{label:28}" + "".join(f"{100 * values[one]:10.1f}" for one in measures)
