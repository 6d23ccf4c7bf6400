"""Names that resolve as a test says; sockets still open on loopback only."""

import socket
from collections.abc import Callable
from typing import Any

import pytest


@pytest.fixture
def resolver(monkeypatch: pytest.MonkeyPatch) -> dict[str, Callable[[], list[str]]]:
    """Names to what the next look-up answers; all else resolves as usual."""
    names: dict[str, Callable[[], list[str]]] = {}
    usual = socket.getaddrinfo

    def look_up(host: Any, port: Any, *args: Any, **kwargs: Any) -> Any:
        name = host.decode() if isinstance(host, bytes) else host
        addresses = names[name]() if name in names else [host]
        return [info for address in addresses for info in usual(address, port, *args, **kwargs)]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    return names
