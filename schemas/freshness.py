"""Whether a source is as fresh as its source file promises."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class FreshnessState:
    """How fresh a source is: `slo` and `age` in seconds; `as_of`: the end of its last good run (ISO 8601).

    `stale`: older than `slo`, or never read; false without an `slo`.
    """

    slo: float | None = None
    as_of: str | None = None
    age: float | None = None
    stale: bool = False


def judge_freshness(slo: float | None, *, as_of: str | None, now: datetime) -> FreshnessState:
    """Compare the age of what readers see with what is promised.

    Age is counted from the end of the last run that ended well, whether it changed anything or not.
    """
    age = None if as_of is None else max((now - datetime.fromisoformat(as_of)).total_seconds(), 0.0)
    stale = slo is not None and (age is None or age > slo)
    return FreshnessState(slo=slo, as_of=as_of, age=age, stale=stale)
