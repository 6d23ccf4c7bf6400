"""What is noted of an audience beside its index: what it was made from, and what is still to be done."""

from dataclasses import replace

from indexes.audiences import Audience, AudienceMarker, read_audience_marker, write_audience_marker

STEPS = 20
"""Generations of the whole index by which an audience can be rolled back with it."""


def marker_of(audience: Audience) -> AudienceMarker:
    """Read what is noted; for whoever holds the index, since only they take an audience away."""
    marker = read_audience_marker(audience.folder)
    assert marker is not None
    return marker


def mark_made(audience: Audience, *, made_from: int, generation: int) -> None:
    """Note that *generation* shows what the audience may see of generation *made_from* of the whole index."""
    marker = marker_of(audience)
    steps = (*(step for step in marker.steps if step[0] != made_from), (made_from, generation))[-STEPS:]
    after = replace(marker, made_from=made_from, unsettled=False, steps=steps)
    if after != marker:
        write_audience_marker(audience.folder, after)


def mark_rolled_back(audience: Audience, *, to: int) -> None:
    """Note what an audience that goes back is made from, and let the next update compare all that it has."""
    marker = marker_of(audience)
    steps = tuple(step for step in marker.steps if step[0] <= to)
    write_audience_marker(audience.folder, replace(marker, made_from=to, unsettled=True, steps=steps))
