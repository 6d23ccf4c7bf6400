"""Devices by name, and GPUs by what their drivers leave in /dev."""

import sys
from pathlib import Path

import pytest

from runtime.settings import check_device, has_fast_bf16
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


@pytest.mark.parametrize(
    ("flags", "fast"),
    [("fpu avx512_bf16 vnni", True), ("fpu amx_bf16", True), ("fpu avx512_bf16x", False), (None, False)],
)
def test_what_the_processor_says_of_bf16(flags: str | None, fast: bool, tmp_path: Path) -> None:
    if flags is not None:
        (tmp_path / "cpuinfo").write_text(f"processor\t: 0\nflags\t\t: {flags}\nbugs\t: none\n")

    assert has_fast_bf16(tmp_path / "cpuinfo") is fast
