"""Starts the workers of `sitegraph serve` behind one socket, and ends them."""

import asyncio
import errno
import ipaddress
import logging
import os
import resource
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from http import HTTPStatus
from multiprocessing import get_context
from multiprocessing.connection import wait
from multiprocessing.context import SpawnProcess
from pathlib import Path
from secrets import token_hex
from shutil import rmtree
from tempfile import mkdtemp
from typing import Any

from uvicorn import Config, Server
from uvicorn.protocols.http.h11_impl import H11Protocol

from indexes.health import index_label
from runtime.settings import os_error_reason
from runtime.yaml_files import load_tokens
from schemas.access import PUBLIC, ReaderToken, audience_name
from schemas.errors import ConfigError
from schemas.settings import Settings
from sitegraph.service.guard import OPEN_PATHS, STATUS
from sitegraph.service.metrics import Metered
from sitegraph.service.parts import write_stderr
from sitegraph.service.worker import ServeOptions, build_service, settings_for

LEAVE_SECONDS = 8.0
"""What workers have, from being told to end, before they are killed."""

_LOOK_SECONDS = 0.2
_PAUSE_SECONDS = 1.0
"""Before a worker is replaced: one that cannot start must not be started without end."""


def supervise(work: Callable[[], None], *, workers: int) -> None:
    """Run *work*, which can be pickled, in *workers* processes until SIGTERM or SIGINT; replace the dead.

    Processes are spawned: the driver of the store does not survive a fork.
    """
    stop = threading.Event()
    with _signals(stop):
        running = [_start(work) for _ in range(workers)]
        while not stop.is_set():
            wait([process.sentinel for process in running], timeout=_LOOK_SECONDS)
            running = [_alive(process, work, stop) for process in running]
        end(running)


def end(running: Sequence[SpawnProcess], *, seconds: float = LEAVE_SECONDS) -> None:
    """Tell processes to end, and kill those that have not after *seconds*."""
    deadline = time.monotonic() + seconds
    for process in running:
        process.terminate()
    for process in running:
        process.join(max(0.0, deadline - time.monotonic()))
        if process.is_alive():
            process.kill()
            process.join()


def _start(work: Callable[[], None]) -> SpawnProcess:
    process = get_context("spawn").Process(target=work)
    process.start()
    return process


def _alive(process: SpawnProcess, work: Callable[[], None], stop: threading.Event) -> SpawnProcess:
    """Return the process, or a new one in its place; a dead one if there is no time for another."""
    if process.is_alive():
        return process
    write_stderr(f"sitegraph: a worker ended ({process.exitcode}); starting another")
    return process if stop.wait(_PAUSE_SECONDS) else _start(work)


@contextmanager
def _signals(stop: threading.Event) -> Iterator[None]:
    before = {
        number: signal.signal(number, lambda *_: stop.set()) for number in (signal.SIGTERM, signal.SIGINT)
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


CONNECTIONS_MAX = 512
REQUEST_SECONDS = 10.0
"""From a connection, or the answer before, to the end of a request's head; twice that at most."""

PAUSE_SECONDS = 1.0
"""So long nothing is read of a connection after a 503, less than its `Retry-After`: clients that ask again at
once would take the time of those who are answered."""


def most_connections() -> int:
    """Half of the files this process may open, the stores need some too; at most `CONNECTIONS_MAX`."""
    return min(CONNECTIONS_MAX, resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 2)


class BoundedProtocol(H11Protocol):
    """Closes what is one too many, and what sends no whole request: silence costs a client nothing.

    The time of a request itself is bounded by the guard in front of the application.
    """

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a connection, or close it at once."""
        super().connection_made(transport)
        if len(self.connections) > most_connections():
            transport.abort()
        else:
            self.loop.call_later(REQUEST_SECONDS, self._watch, None)

    def on_response_complete(self) -> None:
        """Go on with the next request, a little later where one was turned away."""
        turned_away = self.scope.get(STATUS) == HTTPStatus.SERVICE_UNAVAILABLE
        is_probe = self.scope["path"] in OPEN_PATHS  # of a proxy, whose clients share its connections
        super().on_response_complete()
        if turned_away and not is_probe and not self.transport.is_closing():
            self.flow.pause_reading()
            self.loop.call_later(PAUSE_SECONDS, self.flow.resume_reading)

    def _watch(self, last: Any) -> None:
        waits = self.cycle is None or self.cycle.response_complete
        if waits and self.cycle is last:
            self.transport.abort()
        elif not self.transport.is_closing():
            self.loop.call_later(REQUEST_SECONDS, self._watch, self.cycle)


TOKEN = "SITEGRAPH_SERVE_TOKEN"  # noqa: S105 - the name of the variable
GRACE_SECONDS = 5
"""For requests under way when a worker is told to end; it is killed soon after."""

_BACKLOG = 1024
_FOLDER_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]"})


def serve(settings: Settings, *, host: str, port: int, workers: int) -> None:
    """Serve the index until SIGTERM or Ctrl-C.

    Raises: ConfigError: the address is unavailable, or may be asked from elsewhere and there is no token.
    """
    readers = load_tokens(Path(settings.tokens)) if settings.tokens else ()
    token = token_hex() if readers else settings.serve_token
    check_readers(settings, readers)
    with bind(host, port) as bound:
        address = str(bound.getsockname()[0])
        if token is None and not ipaddress.ip_address(address).is_loopback:
            raise ConfigError(
                f"must be set when listening on a non-loopback address ({address})", subject=TOKEN
            )
        hosts = None if token else _LOOPBACK | {address, host.lower()}
        _say(settings, bound)
        with counting_folder() as folder:
            options = ServeOptions(
                settings=settings, token=token, hosts=hosts, metrics_folder=folder, readers=readers
            )
            supervise(partial(run_worker, options, bound), workers=workers)


def check_readers(settings: Settings, readers: Iterable[ReaderToken]) -> None:
    """Raise ConfigError where the index has no audience of a reader, or of those without groups."""
    root = Path(settings.index).resolve()
    if names := {audience_name(reader.groups) for reader in readers}:
        for name in sorted(names | {PUBLIC}):
            settings_for(settings, root, name)


@contextmanager
def counting_folder() -> Iterator[str | None]:
    """Give a folder in which worker processes count together, and those started in the block know of it.

    None where there is no place for temporary files: each worker then tells what it has counted itself.
    Source: prometheus.github.io/client_python/multiprocess.
    """
    try:
        folder = mkdtemp(prefix="sitegraph-metrics-")
    except OSError as error:
        os.environ.pop(_FOLDER_VARIABLE, None)
        write_stderr(
            f"sitegraph: warning: no folder for temporary files ({os_error_reason(error)}); set TMPDIR, "
            "or /metrics counts the questions of one worker alone"
        )
        yield None
        return
    os.environ[_FOLDER_VARIABLE] = folder
    try:
        yield folder
    finally:
        del os.environ[_FOLDER_VARIABLE]
        rmtree(folder, ignore_errors=True)


def bind(host: str, port: int) -> socket.socket:
    """Return a socket that listens; port 0 is any free one.

    Raises: ConfigError: no such address here, or something else listens there.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        bound = socket.socket(family, kind, protocol)
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(address)
        bound.listen(_BACKLOG)
    except OSError as error:
        remedy = "another --port, 0 for a free one" if error.errno == errno.EADDRINUSE else "another --host"
        raise ConfigError(
            f"cannot listen there ({os_error_reason(error)}); choose {remedy}", subject=f"{host}:{port}"
        ) from error
    return bound


def run_worker(options: ServeOptions, bound: socket.socket) -> None:
    """Answer what comes in at a socket until told to end."""
    service = build_service(options)
    config = Config(
        service,
        http=BoundedProtocol,
        ws="none",
        lifespan="on",
        log_config=None,
        log_level=logging.WARNING,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=GRACE_SECONDS,
    )
    with suppress(KeyboardInterrupt):
        _LeavingServer(config, service).run(sockets=[bound])


class _LeavingServer(Server):
    """Ends what would go on for as long as its client likes, then waits for the rest."""

    def __init__(self, config: Config, service: Metered) -> None:
        super().__init__(config)
        self._service = service

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._service.leave()
        await super().shutdown(sockets)


def _say(settings: Settings, bound: socket.socket) -> None:
    host, port = bound.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    index = index_label(Path(settings.index).resolve())
    write_stderr(f"sitegraph: serving {index} at http://{shown}:{port}; Ctrl-C ends it")
