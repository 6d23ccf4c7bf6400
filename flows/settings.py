"""Where settings come from; imports nothing slow, since every command begins here."""

import os
from dataclasses import replace
from pathlib import Path

from schemas.settings import SETTINGS_FILE, Settings, load_settings


def read_settings(index: str | None = None, *, graph: str | None = None) -> Settings:
    """Settings from the environment and `./sitegraph.toml`; arguments win over both."""
    file = Path(SETTINGS_FILE)
    settings = load_settings(os.environ, file.read_text() if file.is_file() else None)
    return replace(settings, index=index or settings.index, graph=graph or settings.graph)
