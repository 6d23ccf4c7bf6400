"""The task runner that the settings name, held against what is installed before anything is fetched."""

from importlib.util import find_spec

from schemas.errors import ConfigError
from schemas.extras import EXTRAS, install_line
from schemas.settings import Settings

SETTING, ADDRESS = "SITEGRAPH_TASK_RUNNER", "SITEGRAPH_TASK_RUNNER_ADDRESS"
THREADS = "threads"


def check_task_runner(settings: Settings) -> None:
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
