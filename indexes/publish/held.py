"""Whether publishing is held, as everybody may read it; flows/run/hold.py sets and lifts it."""

from pathlib import Path

from indexes.layout import IndexLayout


def hold_file(layout: IndexLayout) -> Path:
    """Return where a hold is written."""
    return layout.root / "HOLD"


def held_since(layout: IndexLayout) -> str | None:
    """When the hold was set; None when publishing is free."""
    path = hold_file(layout)
    return path.read_text().strip() if path.exists() else None
