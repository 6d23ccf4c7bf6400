"""Whether a Prefect server may be configured, told without Prefect, whose import takes half a second or more.

Source: prefect/settings/sources.py of Prefect 3.8: environment, `.env`, `prefect.toml`, `pyproject.toml`,
profiles.
"""

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path

_VARIABLES = frozenset({"PREFECT_API_URL", "PREFECT_PROFILE", "PREFECT_PROFILES_PATH"})
_LINE = re.compile(r"^\s*(export\s+)?PREFECT_(API_URL|PROFILE|PROFILES_PATH|HOME)\s*=", re.I | re.M)


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
