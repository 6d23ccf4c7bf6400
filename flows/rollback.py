"""Going back to an earlier generation, with its audiences, and letting publishing go on afterwards."""

import threading
from typing import Any

from flows.audiences.open import mark_rolled_back, open_audience
from flows.commit.publish import show_current
from flows.run.generations import kept_generations
from flows.run.index import Index
from flows.run.leases import lift_hold, set_hold
from indexes.embed.export import damaged_files
from indexes.markers import Audience, AudienceMarker, audiences_of, read_audience_marker
from indexes.publish.current import prepare_current, write_current
from indexes.publish.files import FileCheck
from indexes.publish.generation import load_generation
from runtime.progress import StageProgress
from schemas.advice import ADVICE, Trouble
from schemas.errors import ConfigError, DamageFound, StoreUnavailable


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


def roll_back(index: Index, *, to: int | None) -> dict[str, Any]:
    """Point readers at generation *to*, by default the one the current one was built on.

    Raises: ConfigError: that generation is not kept (any more), or is the current one; DamageFound: a file
    of it is lost or damaged; StaleLease: another run has taken over, and readers stay where they are.
    """
    with index.hold(progress=StageProgress(quiet=True), stop=threading.Event()) as held:
        current = index.current()
        target = choose_target(kept_generations(index), current=current, to=to)
        require_whole(index, target)
        # Held first: a crash in between must not leave a rolled-back index that publishes again by itself.
        set_hold(index.layout, now=index.now())
        prepared = prepare_current(index.layout.root)
        with index.ledger.leases.locked(held):
            write_current(index.layout.root, target, prepared=prepared)
        index.crash_point("rollback.renamed")
        index.ledger.generations.roll_back(above=target)
        warnings = [*_show(index), *_roll_back_audiences(index, to=target)]
        return {"generation": target, "rolled_back_from": current, "warnings": warnings}


def _roll_back_audiences(index: Index, *, to: int) -> list[str]:
    """Let readers of each audience see what they saw at that generation, where it is kept; else say so."""
    warnings = []
    for audience, target in audience_targets(index, to=to):
        if target is None:
            warnings.append(f"audience {audience.name} stays as it is: what it had then is not kept any more")
            continue
        mark_rolled_back(audience, to=to)
        with open_audience(index, audience) as opened:
            roll_back(opened, to=target)
            lift_hold(opened.layout)
    return warnings


def _show(index: Index) -> list[str]:
    """Let people see what readers see; readers are back already, with the graph's server or without it."""
    try:
        show_current(index)
    except (StoreUnavailable, ConfigError) as error:
        return [f"what people see in the graph store is not rolled back; the next run does it: {error}"]
    return []


def require_whole(index: Index, generation: int) -> None:
    """Refuse to lead readers to a generation whose files are not what was published.

    Raises: DamageFound: names the first of them.
    """
    path, another = index.layout.generation(generation), ADVICE[Trouble.DAMAGED_BEFORE]
    described = load_generation(index.layout, generation)
    if index.ledger.manifests.get(generation) not in (None, path.read_text()):
        raise DamageFound(f"is damaged; {another}", subject=str(path))
    for name, what in FileCheck(index.layout.root).damaged(described.files):
        raise DamageFound(f"{what}; {another}", subject=str(index.layout.root / name))
    encoder = index.layout.root / index.chunks.space(generation).encoder
    for name in damaged_files(encoder):
        raise DamageFound(f"is missing or damaged; {another}", subject=str(encoder / name))


def choose_target(kept: tuple[int, ...], *, current: int, to: int | None) -> int:
    """Choose the generation to go back to among those still kept."""
    earlier = [generation for generation in kept if generation < current]
    if to is None and earlier:
        return earlier[-1]
    if to is not None and to in earlier:
        return to
    if to is None:
        raise ConfigError("there is no earlier generation to go back to", subject=f"generation {current}")
    have = ", ".join(map(str, earlier)) or "none"
    raise ConfigError(
        f"cannot go back to generation {to}; earlier generations still kept: {have}", subject="--to"
    )


def lift_hold_of(index: Index) -> dict[str, Any]:
    """Let runs publish again."""
    return {"generation": index.current(), "lifted": lift_hold(index.layout)}
