"""Which program of the machine is Chromium."""

import shutil

from schemas.settings import Settings

_NAMES = ("chromium", "chromium-browser", "google-chrome")


def find_chromium(settings: Settings) -> str | None:
    """Return the program that the setting names, or the first of the usual ones; None: none is there."""
    names = (settings.chromium,) if settings.chromium else _NAMES
    return next(filter(None, map(shutil.which, names)), None)
