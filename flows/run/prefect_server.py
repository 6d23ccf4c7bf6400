"""Which Prefect server is configured, told without Prefect, which takes a second to import, where none is.

Source: prefect/settings/sources.py of Prefect 3.8: environment, `.env`, `prefect.toml`, `pyproject.toml`,
profiles.
"""

import os
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

from schemas.errors import ConfigError, StoreUnavailable

_VARIABLES = frozenset({"PREFECT_API_URL", "PREFECT_PROFILE", "PREFECT_PROFILES_PATH"})
_LINE = re.compile(r"^\s*(export\s+)?PREFECT_(API_URL|PROFILE|PROFILES_PATH|HOME)\s*=", re.I | re.M)
_USER = re.compile(r"(?<=://)[^/@]*@")

PATIENCE = 5.0
"""Seconds."""


def configured_server() -> str | None:
    """Return the URL of the configured server; None where none is.

    Raises: ConfigError: what is configured is no URL.
    """
    if not may_be_configured(os.environ, Path.cwd()):
        return None
    from prefect.settings import PREFECT_API_URL

    # Prefect reads the environment once, when it is imported; what is set since wins there, too.
    url: str | None = PREFECT_API_URL.value() or os.environ.get("PREFECT_API_URL")
    if url and not url.startswith(("http://", "https://")):
        raise ConfigError("is not a URL; give one such as http://HOST:4200/api", subject="PREFECT_API_URL")
    return url or None


def ask_prefect() -> str | None:
    """Return the URL of the configured server once it has answered; None where none is configured.

    Raises: StoreUnavailable: it does not answer; ConfigError: what is configured is no URL.
    """
    url = configured_server()
    if url is None:
        return None
    shown = _USER.sub("", url)
    try:
        with urlopen(f"{shown.rstrip('/')}/health", timeout=PATIENCE):  # noqa: S310 - checked above
            return shown
    except (URLError, OSError, ValueError) as error:
        reason = getattr(error, "reason", error)
        raise StoreUnavailable(f"does not answer ({reason})", subject=f"Prefect server {shown}") from error


def may_be_configured(environ: Mapping[str, str], folder: Path) -> bool:
    """Whether anything that Prefect reads in *environ* or *folder* may name a server.

    True says that Prefect is to be asked; false is certain.
    """
    if any(value and name.upper() in _VARIABLES for name, value in environ.items()):
        return True
    home = Path(environ.get("PREFECT_HOME") or "~/.prefect").expanduser()
    if (home / "profiles.toml").exists() or (folder / "prefect.toml").exists():
        return True
    return bool(_LINE.search(_text(folder / ".env"))) or _has_table(_text(folder / "pyproject.toml"))


def _has_table(pyproject: str) -> bool:
    try:
        return "prefect" in tomllib.loads(pyproject).get("tool", {})
    except tomllib.TOMLDecodeError:
        return True


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
    except OSError:
        return ""
