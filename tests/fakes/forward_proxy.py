"""A real forward proxy (tinyproxy) on loopback, which remembers what it was asked for."""

import os
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.fakes.prefect_server import WITH_PARENT, free_port, poll

_NONE: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class ForwardProxy:
    """A running proxy; `url` has no user and no password."""

    port: int
    log: Path

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.port}"

    def requests(self) -> list[str]:
        """The request lines so far, as `GET http://host/path` or `CONNECT host:port`."""
        lines = [
            line.rpartition("): ")[2] for line in self.log.read_text().splitlines() if "Request (" in line
        ]
        return [line.rpartition(" ")[0] for line in lines]


@contextmanager
def forward_proxy(
    folder: Path, *, user: str = "", password: str = "", hosts: Mapping[str, str] = _NONE
) -> Iterator[ForwardProxy]:
    """Run tinyproxy; with *user* it asks for a login, and it alone knows the names of *hosts*."""
    program = shutil.which("tinyproxy")
    if program is None:
        _give_up("tinyproxy is not installed")
    folder.mkdir(parents=True, exist_ok=True)
    proxy = ForwardProxy(port=free_port(), log=folder / "log")
    lines = [f"Port {proxy.port}", "Listen 127.0.0.1", "Timeout 30"]
    lines += [f'LogFile "{proxy.log}"', "LogLevel Info"]
    lines += [f"BasicAuth {user} {password}"] if user else []
    (folder / "conf").write_text("\n".join([*lines, ""]))
    command = [str(program), "-d", "-c", str(folder / "conf")]
    process = subprocess.Popen([*WITH_PARENT, *_knowing(hosts, command, folder)], stdout=subprocess.DEVNULL)
    try:
        poll(lambda: _listens(proxy, process), timeout=120, what="the proxy", interval=0.05)
        yield proxy
    finally:
        process.terminate()
        process.wait(120)


def _knowing(hosts: Mapping[str, str], command: list[str], folder: Path) -> list[str]:
    if not hosts:
        return command
    if os.geteuid() != 0:
        _give_up("root is needed, for names that the proxy alone knows")
    known = {"localhost": "127.0.0.1", **hosts}
    (folder / "hosts").write_text("".join(f"{address} {name}\n" for name, address in known.items()))
    script = f"mount --bind {shlex.quote(str(folder / 'hosts'))} /etc/hosts; exec {shlex.join(command)}"
    return ["unshare", "--mount", "bash", "-ec", script]


def _listens(proxy: ForwardProxy, process: "subprocess.Popen[bytes]") -> bool | None:
    assert process.poll() is None, "the proxy ended"
    return True if proxy.log.exists() and "Accepting connections" in proxy.log.read_text() else None


def _give_up(reason: str) -> None:
    message = f"no forward proxy to test with: {reason}"
    pytest.fail(message) if os.environ.get("REQUIRE_ALL") == "1" else pytest.skip(message)
