"""What every process begins with: its settings, held against the machine. Imports nothing slow."""

import errno
import gc
import os
import re
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

from schemas.errors import ConfigError
from schemas.settings import EXTRAS, SETTINGS_FILE, RunSettings, Settings, install_line, load_settings


def os_error_reason(error: OSError | UnicodeDecodeError) -> str:
    """Return the reason alone: the message that it goes into names the file already."""
    if isinstance(error, UnicodeDecodeError):
        return "it is not a UTF-8 text"
    return error.strerror or str(error)


@contextmanager
def naming_file(path: Path | str, trouble: str) -> Iterator[None]:
    """Turn what the system says of a file, or that it is no text, into a ConfigError: *trouble* and why."""
    try:
        yield
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{trouble} ({os_error_reason(error)})", subject=str(path)) from error


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
        settings, index=index or settings.index, graph=graph or settings.graph, model=model or settings.model
    )
    for name, choices in (("graph", GRAPHS), ("dtype", DTYPES), ("task_runner", TASK_RUNNERS)):
        value = getattr(settings, name)
        if value is not None and value not in choices:
            raise ConfigError(f"must be one of {', '.join(choices)}, not {value!r}", subject=name)
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
    with naming_file(SETTINGS_FILE, "cannot be read"):
        return file.read_text(encoding="utf-8") if file.is_file() else None


THRESHOLD = 50_000
"""Objects made and kept between two looks; Python's own choice is 700."""


def raise_gc_threshold() -> None:
    """Look seldom: imports make a million objects that stay, and the names of a large index as many again.

    By default a quarter of a command's imports goes to looking at them, and a seventh of a run's CPU time.
    """
    gc.set_threshold(THRESHOLD)


def show_errors_alone() -> None:
    """Have LanceDB tell errors alone, unless the environment says otherwise; call before it is imported.

    Its warnings ("partition 0 is empty") are for whoever calls it; a reader of logs can act on none.
    """
    for variable in ("LANCEDB_LOG", "LANCE_LOG"):
        os.environ.setdefault(variable, "error")


def child_environment(**more: str) -> dict[str, str]:
    """Return this process's variables, under which a child finds sitegraph wherever it starts, and *more*."""
    root = str(Path(__file__).resolve().parents[1])
    path = os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH", ""))))
    return {**os.environ, "PYTHONPATH": path, **more}


_KNOWN = re.compile(r"cpu|cuda(:\d{1,3})?")
_GPU_NODES = ("nvidia*", "nvhost*", "kfd", "dxg")
"""What drivers of GPUs that torch calls `cuda` leave in /dev: NVIDIA's, Jetson's, AMD's, and those of WSL."""


def has_fast_bf16(cpuinfo: Path = Path("/proc/cpuinfo")) -> bool:
    """Whether the processor says that it multiplies in bf16; torch knows for sure, once it is imported."""
    told = cpuinfo.read_text() if cpuinfo.is_file() else ""
    return bool({"amx_bf16", "avx512_bf16"} & set(told.split()))


def check_device(device: str, *, nodes: Path = Path("/dev")) -> None:
    """Refuse a device that this machine surely lacks; importing torch, which knows for sure, takes seconds.

    Raises: ConfigError: no device of that name, or a GPU where there is none.
    """
    if not _KNOWN.fullmatch(device):
        raise ConfigError(f"must be cpu, cuda or cuda:N, not {device!r}", subject="SITEGRAPH_DEVICE")
    if device == "cpu" or not sys.platform.startswith("linux"):
        return
    if not any(node for pattern in _GPU_NODES for node in nodes.glob(pattern)):
        message = f"{device!r} cannot be used: this machine has no GPU; set it to cpu"
        raise ConfigError(message, subject="SITEGRAPH_DEVICE")


SETTING, ADDRESS = "SITEGRAPH_TASK_RUNNER", "SITEGRAPH_TASK_RUNNER_ADDRESS"
THREADS = "threads"


def check_task_runner(settings: RunSettings) -> None:
    """Refuse a task runner that is not installed, and an address that nothing would connect to.

    Raises: ConfigError.
    """
    runner = settings.task_runner
    if runner == THREADS and settings.task_runner_address:
        raise ConfigError(
            f"has no effect with {SETTING}={THREADS}; set {SETTING} to dask or ray", subject=ADDRESS
        )
    if runner != THREADS and not all(find_spec(module) for module in EXTRAS[runner]):
        raise ConfigError(
            f"names {runner}, which is not installed; run: {install_line(runner)}", subject=SETTING
        )


_ACTIONS = ("kill", "stop", "raise", "enospc")


def crash_point(setting: str | None) -> Callable[[str], None]:
    """Return a function that crashes when called with the point that *setting* names."""
    if not setting:
        return lambda _point: None
    point, _, action = setting.partition(":")
    if action not in _ACTIONS:
        raise ConfigError(f"{setting!r} is not POINT:{'|'.join(_ACTIONS)}", subject="SITEGRAPH_FAULT")

    def crash(reached: str) -> None:
        if reached == point:
            _crash(action)

    return crash


def _crash(action: str) -> None:
    if action == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if action == "stop":
        os.kill(os.getpid(), signal.SIGSTOP)  # until somebody sends SIGCONT
        return
    if action == "enospc":
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    raise RuntimeError("crashed on purpose")
