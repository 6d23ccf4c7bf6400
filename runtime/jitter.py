"""Jitter: a schedule moved within a window by as much as its source's name tells, so not all begin at once.

The schedule itself is moved (its minutes, its hours), not the start of its runs: they begin when Prefect
planned them, so no alarm takes them for late, and as far apart as before, so none misses one. Of the window
those whole minutes count by which the schedule can be written anew as one schedule.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import replace

from runtime.moved_schedules import move_cron, move_rule
from schemas.source import Schedule

SHORTEST, LONGEST = 60.0, 86_400.0
"""Seconds of a window: cron has minutes; a longer one would give runs to days they are not planned for."""


def jitter_refusal(schedule: Schedule) -> str | None:
    """Say why a schedule cannot have its jitter."""
    if not schedule.jitter:
        return None
    if schedule.every is not None:
        return "jitter is longer than every" if schedule.jitter > schedule.every else None
    if not SHORTEST <= schedule.jitter <= LONGEST:
        return "jitter of cron and rrule is from 1m to 24h"
    if len(slots(schedule)) > 1:
        return None
    return (
        "jitter has no room: a minute later would be the next hour for some of its runs only, or another "
        "day; move the schedule itself, or leave jitter out"
    )


def moved(schedule: Schedule, name: str) -> Schedule:
    """Return a schedule as it fires for the source *name*; an interval, which its anchor moves, as it is."""
    if not schedule.jitter or schedule.every is not None:
        return schedule
    places = slots(schedule)
    minutes = places[share(name, len(places))]
    if schedule.cron is not None:
        return replace(schedule, cron=move_cron(schedule.cron, minutes))
    return replace(schedule, rrule=move_rule(schedule.rrule or "", minutes))


def share(name: str, places: int) -> int:
    """One of so many places, from 0 on: for one name the same at any time and on any machine."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big") % max(places, 1)


def slots(schedule: Schedule) -> Sequence[int]:
    """Minutes of the window by which a cron expression or a rule can be moved; the first is 0."""
    window = range(int((schedule.jitter or 0) // 60) + 1)
    if schedule.cron is not None:
        return [by for by in window if move_cron(schedule.cron, by) is not None]
    return [by for by in window if move_rule(schedule.rrule or "", by) is not None]
