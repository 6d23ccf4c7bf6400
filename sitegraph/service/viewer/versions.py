"""Versions of a passage over generations: what it became, and what it was."""

from collections.abc import Callable, Sequence

from schemas.feed import FeedEntry

STEPS_MAX = 20

EntriesOf = Callable[[str], Sequence[FeedEntry]]
"""An id to what generations did to it, in order."""


def became(id_: str, entries_of: EntriesOf) -> tuple[FeedEntry, ...]:
    """Return the changes that led from *id_*, which is no more, to what stands in its place now.

    The last entry's `new_id` is None where nothing does. An id that came back and went again is followed from
    where it went last.
    """
    steps: list[FeedEntry] = []
    at: str | None = id_
    while at is not None and len(steps) < STEPS_MAX:
        since = steps[-1].generation if steps else 0
        left = [one for one in departures(at, entries_of(at)) if one.generation > since]
        if not left:
            break
        steps.append(left[-1])
        at = left[-1].new_id
    return tuple(steps)


def was(id_: str, entries_of: EntriesOf) -> tuple[FeedEntry, ...]:
    """Return the changes that led to *id_*, newest first; the last one's `old_id` is None if it was new."""
    steps: list[FeedEntry] = []
    at: str | None = id_
    while at is not None and len(steps) < STEPS_MAX:
        came = [
            one
            for one in entries_of(at)
            if one.new_id == at != one.old_id and (not steps or one.generation < steps[-1].generation)
        ]
        if not came:
            break
        steps.append(came[-1])
        at = came[-1].old_id
    return tuple(steps)


def departures(id_: str, entries: Sequence[FeedEntry]) -> tuple[FeedEntry, ...]:
    """Return those of *entries* that took *id_* out, in order."""
    return tuple(one for one in entries if one.old_id == id_ != one.new_id)
