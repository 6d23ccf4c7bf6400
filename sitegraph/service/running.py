"""Starts the workers of `sitegraph serve` behind one socket, and ends them."""

import errno
import ipaddress
import logging
import os
import socket
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from secrets import token_hex
from shutil import rmtree
from tempfile import mkdtemp

from uvicorn import Config, Server

from indexes.health import name_of_index
from runtime.file_errors import os_error_reason
from runtime.token_file import load_tokens
from schemas.access import PUBLIC, ReaderToken, audience_name
from schemas.errors import ConfigError
from schemas.settings import Settings
from sitegraph.service.connections import BoundedProtocol
from sitegraph.service.metrics import Metered
from sitegraph.service.parts import write_stderr
from sitegraph.service.supervisor import supervise
from sitegraph.service.worker import ServeOptions, build_service, settings_for

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
    where = f"http://{shown}:{port}"
    sys.stderr.write(
        f"sitegraph: serving {name_of_index(Path(settings.index).resolve())} at {where}; Ctrl-C ends it\n"
    )
    sys.stderr.flush()
