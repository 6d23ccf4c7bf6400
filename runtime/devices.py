"""The device that encodes in bulk, held against this machine before anything is fetched."""

import re
import sys
from pathlib import Path

from schemas.errors import ConfigError

_KNOWN = re.compile(r"cpu|cuda(:\d{1,3})?")
_GPU_NODES = ("nvidia*", "nvhost*", "kfd", "dxg")
"""What drivers of GPUs that torch calls `cuda` leave in /dev: NVIDIA's, Jetson's, AMD's, and those of WSL."""


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
