"""Devices by name, and GPUs by what their drivers leave in /dev."""

import sys
from pathlib import Path

import pytest

from runtime.devices import check_device
from schemas.errors import ConfigError


@pytest.mark.parametrize("device", ["meta", " ", "", "cuda:", "cuda:x", "CPU", "cpu ", "cuda:0 "])
def test_what_is_no_device_is_named(device: str, tmp_path: Path) -> None:
    (tmp_path / "nvidiactl").touch()

    with pytest.raises(ConfigError, match="SITEGRAPH_DEVICE: must be cpu, cuda or cuda:N"):
        check_device(device, nodes=tmp_path)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="devices are files on Linux")
def test_a_gpu_is_refused_where_no_driver_shows_one(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="'cuda:1' cannot be used: this machine has no GPU"):
        check_device("cuda:1", nodes=tmp_path)


@pytest.mark.parametrize("node", ["nvidiactl", "nvhost-gpu", "kfd", "dxg"])
def test_a_gpu_is_taken_where_a_driver_shows_one(node: str, tmp_path: Path) -> None:
    (tmp_path / node).touch()

    check_device("cuda", nodes=tmp_path)
    check_device("cuda:1", nodes=tmp_path)


def test_a_processor_needs_no_driver(tmp_path: Path) -> None:
    check_device("cpu", nodes=tmp_path)
