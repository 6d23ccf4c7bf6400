"""A real PostgreSQL for tests: somebody's own, or one started from the binaries of this machine.

Every test gets a database of its own; nothing that we did not make is touched.
"""

import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import sqlalchemy as sa

_START_SECONDS = 240
_HOW_TO_PROVIDE = (
    "no PostgreSQL to test against ({reason}): set PG_TEST_URL to a server on which databases may be "
    "created, or install PostgreSQL's server programs"
)
_UNPRIVILEGED = ("postgres", "nobody")


class PostgresServer:
    """Makes databases on a server, and drops those it made."""

    def __init__(self, url: str) -> None:
        self._url = _driven(url)
        self._engine = sa.create_engine(self._url, isolation_level="AUTOCOMMIT", poolclass=sa.NullPool)

    def create_database(self) -> str:
        """Make an empty database and give its URL."""
        name = f"sitegraph_test_{secrets.token_hex(6)}"
        self._run(f"CREATE DATABASE {name} TEMPLATE template0 ENCODING 'UTF8' {self._locale()}")
        return self._url.set(drivername="postgresql", database=name).render_as_string(hide_password=False)

    def copy_database(self, url: str) -> str:
        """Copy a database that was made here, from which everybody is disconnected, and give its URL."""
        self.disconnect_all(url)
        original, name = sa.make_url(url).database or "", f"sitegraph_test_{secrets.token_hex(6)}"
        assert original.startswith("sitegraph_test_")
        self._run(f"CREATE DATABASE {name} TEMPLATE {original}")
        return self._url.set(drivername="postgresql", database=name).render_as_string(hide_password=False)

    def drop_database(self, url: str) -> None:
        """Drop a database that was made here, whoever is connected to it."""
        name = sa.make_url(url).database or ""
        assert name.startswith("sitegraph_test_")
        self._run(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")

    def disconnect_all(self, url: str) -> None:
        """Cut every connection to a database, as a restart of the server would."""
        name = sa.make_url(url).database
        query = sa.text("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = :name")
        with self._engine.connect() as connection:
            connection.execute(query, {"name": name}).all()

    def _locale(self) -> str:
        """Sort as people do, where the server can: the ledger's own order must not depend on it."""
        with self._engine.connect() as connection:
            icu = connection.execute(sa.text("SELECT 1 FROM pg_collation WHERE collprovider = 'i'")).first()
        return "LOCALE_PROVIDER icu ICU_LOCALE 'en-US'" if icu else ""

    def _run(self, statement: str) -> None:
        with self._engine.connect() as connection:
            connection.execute(sa.text(statement))


@contextmanager
def running_postgres() -> Iterator[PostgresServer]:
    """Return a server; without one skip, or fail under REQUIRE_POSTGRES or REQUIRE_ALL."""
    if url := os.environ.get("PG_TEST_URL"):
        yield PostgresServer(url)
        return
    bindir = find_binaries()
    user = _unprivileged_user()
    if bindir is None or user is None:
        reason = "no initdb found" if bindir is None else "initdb refuses root, and there is no user for it"
        _give_up(reason)
    else:
        with _own_server(bindir, user) as url:
            yield PostgresServer(url)


def _give_up(reason: str) -> None:
    message = _HOW_TO_PROVIDE.format(reason=reason)
    required = "1" in (os.environ.get("REQUIRE_POSTGRES"), os.environ.get("REQUIRE_ALL"))
    pytest.fail(message) if required else pytest.skip(message)


def find_binaries() -> Path | None:
    told = shutil.which("pg_config")
    asked = [subprocess.check_output([told, "--bindir"], text=True).strip()] if told else []
    on_path = [str(Path(initdb).parent)] if (initdb := shutil.which("initdb")) else []
    newest = sorted(map(str, Path("/usr/lib/postgresql").glob("*/bin")), reverse=True)
    folders = (Path(folder) for folder in (*asked, *newest, *on_path))
    return next((f for f in folders if (f / "initdb").exists() and (f / "postgres").exists()), None)


def _unprivileged_user() -> str | None:
    """Whom to run the server as; the empty string is ourselves."""
    if os.geteuid() != 0:
        return ""
    known = {entry.pw_name for entry in pwd.getpwall()}
    return next((name for name in _UNPRIVILEGED if name in known), None)


@contextmanager
def _own_server(bindir: Path, user: str) -> Iterator[str]:
    home = Path(tempfile.mkdtemp(prefix="sitegraph-pg-"))
    password, port = secrets.token_urlsafe(12), _free_port()
    (home / "password").write_text(password)
    if user:
        for path in (home, home / "password"):
            shutil.chown(path, user)
    process = None
    try:
        initdb = [str(bindir / "initdb"), "-D", str(home / "data"), "-U", "tester", "--no-sync"]
        initdb += ["--encoding=UTF8", "--locale=C", "--auth=scram-sha-256", f"--pwfile={home / 'password'}"]
        subprocess.run(initdb, check=True, capture_output=True, timeout=120, cwd=home, **_as_user(user))
        process = _start(bindir, home, port, user)
        url = f"postgresql://tester:{password}@127.0.0.1:{port}/postgres"
        _wait_for(url, process, home / "log")
        yield url
    finally:
        if process is not None:
            # SIGINT is PostgreSQL's fast shutdown: it does not wait for clients.
            process.send_signal(signal.SIGINT)
            process.wait(120)
        shutil.rmtree(home, ignore_errors=True)


def _start(bindir: Path, home: Path, port: int, user: str) -> subprocess.Popen[bytes]:
    settings = {"port": port, "listen_addresses": "127.0.0.1", "unix_socket_directories": "", "fsync": "off"}
    command = [str(bindir / "postgres"), "-D", str(home / "data")]
    for name, value in settings.items():
        command += ["-c", f"{name}={value}"]
    with (home / "log").open("wb") as log:
        return subprocess.Popen(command, stdout=log, stderr=log, cwd=home, **_as_user(user))


def _as_user(user: str) -> dict[str, object]:
    """How a child gives root away before it starts; PostgreSQL refuses to run as root."""
    return {"user": user, "group": pwd.getpwnam(user).pw_gid, "extra_groups": []} if user else {}


def _wait_for(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    engine = sa.create_engine(_driven(url), poolclass=sa.NullPool)
    deadline = time.monotonic() + _START_SECONDS
    while True:
        try:
            with engine.connect():
                return
        except sa.exc.OperationalError:
            if process.poll() is not None or time.monotonic() > deadline:
                pytest.fail(f"PostgreSQL did not start:\n{log.read_text()[-2000:]}")
            time.sleep(0.1)


def _driven(url: str) -> sa.URL:
    """The URL with the driver that is installed, whatever SQLAlchemy takes by default."""
    return sa.make_url(url).set(drivername="postgresql+psycopg")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port
