"""A Prefect server for one command, where none is configured.

Prefect starts one by itself, but imports all of the server into the flow's process to do so (2.4 CPU
seconds), and in the terminal's process group, where Ctrl-C ends it before the flow can say that it stopped.
"""

import ctypes
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib import import_module
from urllib.error import URLError
from urllib.request import ProxyHandler, build_opener

from prefect.logging.handlers import APILogHandler
from prefect.settings import PREFECT_API_URL, get_current_settings, temporary_settings

from runtime.proxies import without_unspoken
from schemas.errors import ConfigError, StoreUnavailable

STARTUP_SECONDS = 600.0
"""By the clock: on a busy machine a first start, which makes the database, takes minutes."""
STOP_SECONDS = 5.0
FOR_ONE_COMMAND = {
    "PREFECT_UI_ENABLED": "0",
    "PREFECT__SERVER_EPHEMERAL": "1",
    # The next lasting server registers types of blocks. Both settings: with the second on, Prefect imports
    # every integration to note that all types are registered, and that server would believe it.
    "PREFECT_SERVER_REGISTER_BLOCKS_ON_START": "false",
    "PREFECT_SERVER_MEMOIZE_BLOCK_AUTO_REGISTRATION": "false",
}
"""Settings of a server that nobody looks at and that ends with the run."""
OWN_SERVER = threading.Event()
"""Set while there is one: nobody else listens to it."""
_PR_SET_PDEATHSIG = 1
_PRCTL = ctypes.CDLL(None).prctl if sys.platform == "linux" else None


@contextmanager
def prefect_api() -> Iterator[None]:
    """Have a Prefect server inside the block: the configured one, or one of our own until its end.

    Runs are kept in the database of PREFECT_HOME either way, so a later `prefect server start` shows them.
    Raises: StoreUnavailable: our own server does not come up; ConfigError: what is configured is no URL.
    """
    with without_unspoken(os.environ), _server_to_use():
        yield


@contextmanager
def _server_to_use() -> Iterator[None]:
    if url := PREFECT_API_URL.value():
        if not url.startswith(("http://", "https://")):
            raise ConfigError(
                "is not a URL; give one such as http://HOST:4200/api", subject="PREFECT_API_URL"
            )
        yield
        return
    port = _free_port()
    # The flow's own calls to the server must not go through a proxy that is meant for the web.
    # Clients read the lower-case name first.
    given = os.environ.get("no_proxy", os.environ.get("NO_PROXY"))
    os.environ["NO_PROXY"] = os.environ["no_proxy"] = ",".join(filter(None, [given, "127.0.0.1"]))
    with ExitStack() as stack:
        server = stack.enter_context(_running_server(port))
        import_module("flows.recrawl")  # while the server does its own imports
        _wait_until_healthy(server, port)
        stack.enter_context(temporary_settings({PREFECT_API_URL: f"http://127.0.0.1:{port}/api"}))
        OWN_SERVER.set()
        stack.callback(OWN_SERVER.clear)
        stack.callback(APILogHandler().flush)  # what was logged last is lost with the server
        yield


@contextmanager
def _running_server(port: int) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-P", "-m", "flows.server.child", str(port)]
    settings = get_current_settings().to_environment_variables(exclude_unset=True)
    server = subprocess.Popen(
        command,
        env={**os.environ, **settings, **FOR_ONE_COMMAND},
        stdin=subprocess.DEVNULL,
        stdout=sys.stderr,
        start_new_session=True,
        # A run that began with a look has threads: nothing is loaded between fork and exec.
        preexec_fn=_end_with_parent if _PRCTL else None,  # noqa: PLW1509
    )
    try:
        yield server
    finally:
        _stop(server)


def _wait_until_healthy(server: subprocess.Popen[bytes], port: int) -> None:
    deadline = time.monotonic() + STARTUP_SECONDS
    direct = build_opener(ProxyHandler({}))
    while time.monotonic() < deadline and server.poll() is None:
        try:
            with direct.open(f"http://127.0.0.1:{port}/api/health", timeout=2):
                return
        except (URLError, OSError):
            time.sleep(0.1)
    raise StoreUnavailable(
        "does not start; see what `prefect server start` says, or set PREFECT_API_URL to a running one",
        subject="Prefect server",
    )


def _stop(server: subprocess.Popen[bytes]) -> None:
    server.terminate()
    try:
        server.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _end_with_parent() -> None:
    """Have the kernel end the server when the flow's process dies, SIGKILL included (prctl(2))."""
    if _PRCTL is not None:
        _PRCTL(_PR_SET_PDEATHSIG, signal.SIGTERM)
