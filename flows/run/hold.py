"""The hold that a rollback puts on publishing, until a person lifts it."""

from indexes.layout import IndexLayout
from indexes.publish.current import write_durably
from schemas.errors import PublishHeld

_NAME = "HOLD"


def held_since(layout: IndexLayout) -> str | None:
    """When the hold was set; None when publishing is free."""
    path = layout.root / _NAME
    return path.read_text().strip() if path.exists() else None


def set_hold(layout: IndexLayout, *, now: str) -> None:
    """Hold publishing."""
    write_durably(layout.root / _NAME, f"{now}\n")


def lift_hold(layout: IndexLayout) -> bool:
    """Let runs publish again; whether there was a hold."""
    held = held_since(layout) is not None
    (layout.root / _NAME).unlink(missing_ok=True)
    return held


def check_hold(layout: IndexLayout) -> None:
    """Raise PublishHeld while publishing is held."""
    since = held_since(layout)
    if since is not None:
        raise PublishHeld(
            f"publishing is held since a rollback at {since or 'an unknown time'}; "
            "lift it with: sitegraph rollback --lift",
            subject=str(layout.root),
        )
