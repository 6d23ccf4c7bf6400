"""The setting that names a task runner, held against what is installed."""

import pytest

from runtime import settings
from runtime.settings import check_task_runner, read_settings
from schemas.errors import ConfigError
from schemas.settings import Settings


def test_threads_need_nothing() -> None:
    check_task_runner(Settings())


@pytest.mark.parametrize("runner", ["dask", "ray"])
def test_a_runner_that_is_not_installed_is_refused_with_the_line_that_installs_it(
    runner: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "find_spec", lambda _name: None)

    with pytest.raises(ConfigError, match=rf'pip install "sitegraph\[{runner}\]"'):
        check_task_runner(Settings(task_runner=runner))


def test_an_address_that_nothing_would_connect_to_is_refused() -> None:
    with pytest.raises(ConfigError, match="set SITEGRAPH_TASK_RUNNER to dask or ray"):
        check_task_runner(Settings(task_runner_address="tcp://scheduler:8786"))


def test_a_runner_of_another_name_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SITEGRAPH_TASK_RUNNER", "slurm")

    with pytest.raises(ConfigError, match="threads, dask, ray, not 'slurm'"):
        read_settings()
