"""Which generations are kept: the last ones, all of a while, and one of each day, week, month or year."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from indexes.publish.files import Stamps
from schemas.errors import ConfigError

SUBJECT = "SITEGRAPH_KEEP"
_PERIODS: dict[str, Callable[[datetime], tuple[int, ...]]] = {
    "daily": lambda at: (at.year, at.month, at.day),
    "weekly": lambda at: at.isocalendar()[:2],
    "monthly": lambda at: (at.year, at.month),
    "yearly": lambda at: (at.year,),
}
_RULE = re.compile(r"(?P<rule>[a-z]+)=(?P<number>[1-9][0-9]{0,3})(?P<unit>[hdw]?)")
_UNITS = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}


@dataclass(frozen=True, slots=True, kw_only=True)
class KeepPolicy:
    """What is kept; a generation stays if any rule names it, and the newest always does.

    `within` reaches back from the newest generation, whatever the time is now. `periods` are pairs of a kind
    of period and how many of them: of each of the last so many days, weeks, months or years (UTC, ISO weeks)
    in which something was published, the newest generation is kept.
    Source: the rules of restic's `forget --keep-…`.
    """

    last: int
    within: timedelta = timedelta()
    periods: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """A generation and when it was made, ISO 8601."""

    generation: int
    as_of: str


def parse_keep(text: str | None, *, last: int) -> KeepPolicy:
    """Read rules such as `within=7d,weekly=52`; none keep the *last* generations alone.

    Raises: ConfigError: a rule is unknown, stands twice, or has no number.
    """
    within, periods = timedelta(), dict[str, int]()
    for rule in (text or "").replace(" ", "").split(",") if text else ():
        found = _RULE.fullmatch(rule)
        name = found["rule"] if found else ""
        if found is None or name in periods or (name == "within" and within):
            raise _wrong(rule)
        if name == "within" and found["unit"]:
            within = int(found["number"]) * _UNITS[found["unit"]]
        elif name in _PERIODS and not found["unit"]:
            periods[name] = int(found["number"])
        else:
            raise _wrong(rule)
    return KeepPolicy(last=last, within=within, periods=tuple(periods.items()))


def plan_kept(line: Sequence[Made], policy: KeepPolicy) -> tuple[int, ...]:
    """Return the generations of *line*, newest first, that a policy keeps, oldest first."""
    if not line:
        return ()
    times = [datetime.fromisoformat(one.as_of) for one in line]
    kept = set(range(min(policy.last, len(line))))
    kept.update(place for place, at in enumerate(times) if policy.within and at >= times[0] - policy.within)
    for name, number in policy.periods:
        newest: dict[tuple[int, ...], int] = {}
        for place, at in enumerate(times):
            newest.setdefault(_PERIODS[name](at), place)
        kept.update(sorted(newest.values())[:number])
    return tuple(sorted(line[place].generation for place in kept))


def bytes_beyond(current: Stamps, earlier: Iterable[Stamps]) -> int:
    """Return the bytes of the files that earlier generations have and the current one does not."""
    sizes = {path: stamp for stamps in earlier for path, stamp in stamps.items() if path not in current}
    return sum(int(stamp.partition(":")[0]) for stamp in sizes.values())


def _wrong(rule: str) -> ConfigError:
    return ConfigError(
        f"{rule!r} is not a rule; write, with commas between, within=7d (h, d or w), daily=14, weekly=52, "
        "monthly=12, yearly=5, each once",
        subject=SUBJECT,
    )
