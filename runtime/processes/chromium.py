"""Where the browser for `javascript: true` is, and whether it can be used."""

import os
from importlib.util import find_spec

from ingest.fetch.browser import Browser
from runtime.browser_programs import find_chromium
from schemas.errors import ConfigError
from schemas.extras import install_line
from schemas.settings import Settings
from schemas.source import Source


def open_browser(source: Source, settings: Settings) -> Browser | None:
    """Return browser of a source whose pages are made by scripts, else None; it starts with the first page.

    As root it runs without its own sandbox, which Chromium refuses to root.
    Raises: ConfigError: the extra `js` or Chromium is not there.
    """
    if not source.javascript:
        return None
    if find_spec("playwright") is None:
        raise ConfigError(
            f"needs playwright, which is not installed; run: {install_line('js')}", subject="javascript: true"
        )
    found = find_chromium(settings)
    if found is None:
        where = f"SITEGRAPH_CHROMIUM names {settings.chromium}, which" if settings.chromium else "Chromium"
        raise ConfigError(
            f"{where} was not found; install it, or set SITEGRAPH_CHROMIUM to its program",
            subject="javascript: true",
        )
    return Browser(
        executable=found,
        sandbox=os.geteuid() != 0,
        user_agent=source.user_agent or settings.user_agent,
    )
