"""A TCP proxy that lets a COMMIT reach Neo4j and cuts the line before the answer comes back."""

import socket
import threading
from contextlib import suppress

_COMMIT = bytes.fromhex("0002b0120000")
"""Bolt's COMMIT message: a chunk of two bytes, a structure without fields with the tag 0x12, the end."""


class LostCommitProxy:
    """Stands between a driver and the server at `bolt://host:port`; a context manager.

    Args: losses: how many commits lose their answer; later ones pass.
    """

    def __init__(self, target: str, *, losses: int = 1) -> None:
        host, _, port = target.removeprefix("bolt://").rpartition(":")
        self._target = (host, int(port))
        self._to_lose = losses
        self.lost = 0
        self._lock = threading.Lock()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.uri = f"bolt://127.0.0.1:{self._listener.getsockname()[1]}"

    def __enter__(self) -> "LostCommitProxy":
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        _cut(self._listener)

    def lose_another(self) -> None:
        """Let one more commit lose its answer."""
        with self._lock:
            self._to_lose += 1

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client = self._listener.accept()[0]
                server = socket.create_connection(self._target)
                doomed = threading.Event()
                for run in (self._carry_up, self._carry_down):
                    threading.Thread(target=run, args=(client, server, doomed), daemon=True).start()

    def _carry_up(self, client: socket.socket, server: socket.socket, doomed: threading.Event) -> None:
        with suppress(OSError):
            while data := client.recv(65536):
                if _COMMIT in data and self._takes_this_one():
                    doomed.set()
                server.sendall(data)
        _cut(server)

    def _carry_down(self, client: socket.socket, server: socket.socket, doomed: threading.Event) -> None:
        with suppress(OSError):
            # The answer is waited for, so that the server has committed when the line is cut.
            while (data := server.recv(65536)) and not doomed.is_set():
                client.sendall(data)
        _cut(client)
        _cut(server)

    def _takes_this_one(self) -> bool:
        with self._lock:
            if self.lost == self._to_lose:
                return False
            self.lost += 1
            return True


def _cut(line: socket.socket) -> None:
    with suppress(OSError):
        line.shutdown(socket.SHUT_RDWR)
    line.close()
