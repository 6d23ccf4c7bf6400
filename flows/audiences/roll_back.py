"""Audiences go back with the whole index, to what they were made of then."""

from flows.audiences.open import open_audience
from flows.run.index import Index
from flows.run.kept_generations import kept_generations
from indexes.audiences import (
    Audience,
    AudienceMarker,
    audiences_of,
    read_audience_marker,
)


def earlier_generation(marker: AudienceMarker, *, to: int, kept: tuple[int, ...]) -> int | None:
    """Return what an audience had when the whole index was at *to*; None where it has that no more.

    What is still kept has nothing that its readers may not see: whatever narrows access purges it.
    """
    found = [mine for whole, mine in marker.steps if whole <= to]
    return found[-1] if found and not marker.purge and found[-1] in kept else None


def audience_targets(index: Index, *, to: int) -> tuple[tuple[Audience, int | None], ...]:
    """Return where each audience would go back to; those that need not are left out, None cannot."""
    targets: list[tuple[Audience, int | None]] = []
    for audience in audiences_of(index.layout.root):
        with open_audience(index, audience) as opened:
            marker = read_audience_marker(audience.folder)
            if marker is None or opened.current() == 0:
                continue
            target = earlier_generation(marker, to=to, kept=kept_generations(opened))
            if target != opened.current():
                targets.append((audience, target))
    return tuple(targets)
