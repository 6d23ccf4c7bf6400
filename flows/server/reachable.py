"""Whether the configured Prefect server answers."""

import os
import re
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

from flows.server.configured import may_be_configured
from schemas.errors import ConfigError, StoreUnavailable

_USER = re.compile(r"(?<=://)[^/@]*@")

PATIENCE = 5.0
"""Seconds."""


def ask_prefect() -> str | None:
    """Return the URL of the configured server once it has answered; None where none is configured.

    Raises: StoreUnavailable: it does not answer; ConfigError: what is configured is no URL.
    """
    if not may_be_configured(os.environ, Path.cwd()):
        return None
    from prefect.settings import PREFECT_API_URL

    # Prefect reads the environment once, when it is imported; what is set since wins there, too.
    url: str | None = os.environ.get("PREFECT_API_URL") or PREFECT_API_URL.value()
    if not url:
        return None
    if not url.startswith(("http://", "https://")):
        raise ConfigError("is not a URL; give one such as http://HOST:4200/api", subject="PREFECT_API_URL")
    shown = _USER.sub("", url)
    try:
        with urlopen(f"{shown.rstrip('/')}/health", timeout=PATIENCE):  # noqa: S310 - checked above
            return shown
    except (URLError, OSError, ValueError) as error:
        reason = getattr(error, "reason", error)
        raise StoreUnavailable(f"does not answer ({reason})", subject=f"Prefect server {shown}") from error
