"""Starts the workers of `sitegraph serve` behind one socket, and ends them."""

import ipaddress
import logging
import socket
import sys
from contextlib import suppress
from functools import partial
from pathlib import Path

from uvicorn import Config, Server

from runtime.file_errors import os_error_reason
from schemas.errors import ConfigError
from schemas.settings import Settings
from sitegraph.service.connections import BoundedProtocol
from sitegraph.service.guard import Guard
from sitegraph.service.supervisor import supervise
from sitegraph.service.worker import ServeOptions, build_service

TOKEN = "SITEGRAPH_SERVE_TOKEN"  # noqa: S105 - the name of the variable
GRACE_SECONDS = 5
"""For requests under way when a worker is told to end; it is killed soon after."""

_BACKLOG = 1024
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]"})


def serve(settings: Settings, *, host: str, port: int, workers: int) -> None:
    """Serve the index until SIGTERM or Ctrl-C.

    Raises: ConfigError: the address is unavailable, or may be asked from elsewhere and there is no token.
    """
    token = settings.serve_token
    with bind(host, port) as bound:
        address = str(bound.getsockname()[0])
        if token is None and not ipaddress.ip_address(address).is_loopback:
            raise ConfigError(
                f"must be set where others than this machine can ask ({address})", subject=TOKEN
            )
        hosts = None if token else _LOOPBACK | {address, host.lower()}
        _say(settings, bound)
        options = ServeOptions(settings=settings, token=token, hosts=hosts)
        supervise(partial(run_worker, options, bound), workers=workers)


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
        raise ConfigError(
            f"cannot listen there ({os_error_reason(error)})", subject=f"{host}:{port}"
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

    def __init__(self, config: Config, service: Guard) -> None:
        super().__init__(config)
        self._service = service

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._service.leave()
        await super().shutdown(sockets)


def _say(settings: Settings, bound: socket.socket) -> None:
    host, port = bound.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    where = f"http://{shown}:{port}"
    sys.stderr.write(f"sitegraph: serving {Path(settings.index).resolve()} at {where}; Ctrl-C ends it\n")
    sys.stderr.flush()
