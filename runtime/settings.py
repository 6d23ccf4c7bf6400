"""Where settings come from; imports nothing slow, since every command begins here."""

import os
from dataclasses import replace
from pathlib import Path

from runtime.file_errors import os_error_reason
from schemas.errors import ConfigError
from schemas.settings import SETTINGS_FILE, Settings, load_settings

GRAPHS = ("lance", "neo4j")
"""The graph stores that indexes/wiring.py opens."""

DTYPES = ("auto", "fp32", "bf16")
"""The arithmetic of indexes/embed/routes.py, which is not imported here: every command begins with this."""

TASK_RUNNERS = ("threads", "dask", "ray")
"""Where flows/run/task_runners.py can have stages done."""


def read_settings(
    index: str | None = None, *, graph: str | None = None, model: str | None = None
) -> Settings:
    """Settings from the environment and `./sitegraph.toml`; arguments win over both.

    Raises: ConfigError: a setting or the file is wrong, or there is no graph store of that name.
    """
    settings = load_settings(os.environ, _file_text())
    settings = replace(
        settings,
        index=index or settings.index,
        graph=graph or settings.graph,
        model=model or settings.model,
    )
    if settings.graph not in (None, *GRAPHS):
        raise ConfigError(f"must be one of {', '.join(GRAPHS)}, not {settings.graph!r}", subject="graph")
    if settings.dtype not in (None, *DTYPES):
        raise ConfigError(f"must be one of {', '.join(DTYPES)}, not {settings.dtype!r}", subject="dtype")
    if settings.task_runner not in TASK_RUNNERS:
        named = f"must be one of {', '.join(TASK_RUNNERS)}, not {settings.task_runner!r}"
        raise ConfigError(named, subject="task_runner")
    return settings


def check_makeable(folder: Path) -> None:
    """Say at once that an index cannot be made in a folder, unless there is one.

    Raises: ConfigError.
    """
    if (
        not isinstance(folder, Path) or (folder / "index.json").exists()
    ):  # a bucket is asked when it is opened
        return
    if "?" in str(folder.absolute()):  # where a path ends in the URL of a SQLite database
        raise ConfigError("has a question mark in its path; choose another --index", subject=str(folder))
    there = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    if not there.is_dir():
        raise ConfigError(
            f"cannot be created: {there} is a file; choose another --index", subject=str(folder)
        )
    if not os.access(there, os.W_OK | os.X_OK, effective_ids=os.access in os.supports_effective_ids):
        raise ConfigError(f"cannot be created: {there} is not writable", subject=str(folder))


def _file_text() -> str | None:
    file = Path(SETTINGS_FILE)
    try:
        return file.read_text(encoding="utf-8") if file.is_file() else None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot be read ({os_error_reason(error)})", subject=SETTINGS_FILE) from error
