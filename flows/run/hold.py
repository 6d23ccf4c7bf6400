"""The hold that a rollback puts on publishing, until a person lifts it."""

from indexes.layout import IndexLayout
from indexes.places import write_durably
from indexes.publish.held import held_since, hold_file
from schemas.advice import ADVICE, Trouble
from schemas.errors import PublishHeld


def set_hold(layout: IndexLayout, *, now: str) -> None:
    """Hold publishing."""
    write_durably(hold_file(layout), f"{now}\n")


def lift_hold(layout: IndexLayout) -> bool:
    """Let runs publish again; whether there was a hold."""
    held = held_since(layout) is not None
    hold_file(layout).unlink(missing_ok=True)
    return held


def check_hold(layout: IndexLayout) -> None:
    """Raise PublishHeld while publishing is held."""
    since = held_since(layout)
    if since is not None:
        raise PublishHeld(
            f"publishing has been held since a rollback at {since or 'an unknown time'}; "
            f"{ADVICE[Trouble.HELD]}",
            subject=str(layout.root),
        )
