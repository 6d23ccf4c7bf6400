"""A real Neo4j for tests: somebody's own, a container, or the jars from Maven Central under Java.

The jars hold no server start class, but the embedded server opens Bolt by itself; `neo4j/Serve.java`
starts it. It ends with the process that started it, even when that is killed.
"""

import os
import re
import secrets
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn, Protocol

import pytest

_REPO = Path(__file__).parents[2]
_RECIPE = Path(__file__).parent / "neo4j"
_VERSION = "5.26.30"
_IMAGE = "neo4j:5.26"
_START_SECONDS = 240
_HOW_TO_PROVIDE = (
    "no Neo4j to test against: set NEO4J_TEST_URI (with NEO4J_TEST_USER and NEO4J_TEST_PASSWORD), "
    "or start Docker, or install Java 17+ and Maven"
)


class Neo4jServer(Protocol):
    """A server to test against; what was committed survives `kill` and `restart`."""

    uri: str
    user: str
    password: str

    def kill(self) -> None:
        """End the server at once, as a power cut would."""

    def restart(self) -> None:
        """Start it again on the same port with the same data, and wait until it answers."""

    def stop(self) -> None:
        """End it and remove its data."""


def settings_of(server: Neo4jServer) -> dict[str, str]:
    """Return the environment variables that lead the program to a server."""
    return {
        "SITEGRAPH_NEO4J_URI": server.uri,
        "SITEGRAPH_NEO4J_USER": server.user,
        "SITEGRAPH_NEO4J_PASSWORD": server.password,
    }


class OwnServer:
    """The server that NEO4J_TEST_URI names; it is not ours to kill."""

    def __init__(self, uri: str) -> None:
        self.uri = uri
        self.user = os.environ.get("NEO4J_TEST_USER", "neo4j")
        self.password = os.environ.get("NEO4J_TEST_PASSWORD", "")

    def kill(self) -> None:
        pytest.skip("the server of NEO4J_TEST_URI is not ours to kill")

    def restart(self) -> None:
        pytest.skip("the server of NEO4J_TEST_URI is not ours to restart")

    def stop(self) -> None:
        """Leave it as it is."""


class DockerServer:
    """The official image, on a free port of this machine."""

    def __init__(self) -> None:
        self.uri = f"bolt://127.0.0.1:{(port := _free_port())}"
        self.user, self.password = "neo4j", secrets.token_urlsafe(12)
        auth = f"NEO4J_AUTH={self.user}/{self.password}"
        publish = f"127.0.0.1:{port}:7687"
        self._container = _run("docker", "run", "-d", "-p", publish, "-e", auth, _IMAGE).strip()
        _wait_for(self)

    def kill(self) -> None:
        _run("docker", "kill", self._container)

    def restart(self) -> None:
        _run("docker", "start", self._container)
        _wait_for(self)

    def stop(self) -> None:
        _run("docker", "rm", "-f", "-v", self._container)


QUICK_TO_START = ("-Xmx1g", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
"""Code is compiled once and not improved: for servers of a test."""
_KEPT_PLANS = (
    "dbms.cypher.statistics_divergence_threshold=1.0",
    "dbms.cypher.min_replan_interval=1h",
)
"""For these too: tables that grow from nothing to a few rows, again and again, are no reason to plan anew."""
AS_PEOPLE_RUN_IT = ("-Xmx2g",)
"""Java's own choice of collector and compiler: for servers that are measured."""


class JavaServer:
    """The embedded server under Java, its data in a temporary folder.

    Args: certificates: a folder with private.key and public.crt; then the server speaks TLS only.
    java: options of Java.
    """

    def __init__(
        self, jars: Path, *, certificates: Path | None = None, java: tuple[str, ...] = QUICK_TO_START
    ) -> None:
        self._jars, self._java = jars, java
        self._home = Path(tempfile.mkdtemp(prefix="sitegraph-neo4j-"))
        port = _free_port()
        self.uri = f"{'bolt+ssc' if certificates else 'bolt'}://127.0.0.1:{port}"
        self.user, self.password = "neo4j", secrets.token_urlsafe(12)
        settings = [*_settings(port), *(_tls_settings(certificates) if certificates else ())]
        settings += _KEPT_PLANS if java == QUICK_TO_START else ()
        (self._home / "neo4j.conf").write_text("\n".join(settings))
        self._process = self._start()
        self._set_password()

    def kill(self) -> None:
        self._process.kill()
        self._end()

    def restart(self) -> None:
        self._process = self._start()
        _wait_for(self)

    def stop(self) -> None:
        if self._process.poll() is None:
            self._process.terminate()
        self._end()
        shutil.rmtree(self._home, ignore_errors=True)

    def _end(self) -> None:
        self._process.wait(120)
        for stream in (self._process.stdin, self._process.stdout):
            if stream:
                stream.close()

    def _start(self) -> subprocess.Popen[str]:
        serve = [str(_RECIPE / "Serve.java"), str(self._home), str(self._home / "neo4j.conf")]
        command = [
            "java",
            *self._java,
            "-cp",
            f"{self._jars}/*",
            *serve,
        ]
        with (self._home / "stderr.log").open("a") as log:
            process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True
            )
        assert process.stdout
        for line in process.stdout:
            if line.strip() == "ready":
                return process
        raise RuntimeError(f"Neo4j did not start:\n{(self._home / 'stderr.log').read_text()[-2000:]}")

    def _set_password(self) -> None:
        import neo4j

        with neo4j.GraphDatabase.driver(self.uri, auth=(self.user, "neo4j")) as driver:
            driver.execute_query(
                "ALTER CURRENT USER SET PASSWORD FROM 'neo4j' TO $p", p=self.password, database_="system"
            )


def _settings(port: int) -> tuple[str, ...]:
    return (
        "server.bolt.enabled=true",
        f"server.bolt.listen_address=127.0.0.1:{port}",
        f"server.bolt.advertised_address=127.0.0.1:{port}",
        "server.http.enabled=false",
        "dbms.security.auth_enabled=true",
        "server.memory.pagecache.size=512m",
        "dbms.usage_report.enabled=false",
        "db.tx_log.preallocate=false",
    )


def _tls_settings(certificates: Path) -> tuple[str, ...]:
    return (
        "server.bolt.tls_level=REQUIRED",
        "dbms.ssl.policy.bolt.enabled=true",
        f"dbms.ssl.policy.bolt.base_directory={certificates}",
        "dbms.ssl.policy.bolt.private_key=private.key",
        "dbms.ssl.policy.bolt.public_certificate=public.crt",
        "dbms.ssl.policy.bolt.client_auth=NONE",
    )


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


def _wait_for(server: Neo4jServer) -> None:
    import neo4j

    deadline = time.monotonic() + _START_SECONDS
    with neo4j.GraphDatabase.driver(server.uri, auth=(server.user, server.password)) as driver:
        while True:
            try:
                return driver.verify_connectivity()
            except neo4j.exceptions.ServiceUnavailable:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.5)


def _run(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=600).stdout


def _works(*command: str) -> bool:
    try:
        return subprocess.run(command, capture_output=True, timeout=10, check=False).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def _java_is_new_enough() -> bool:
    if not (shutil.which("java") and _works("java", "-version")):
        return False
    said = subprocess.run(["java", "-version"], capture_output=True, text=True, check=False).stderr
    version = re.search(r'version "(\d+)', said)
    return version is not None and int(version[1]) >= 17


def load_jars() -> Path | None:
    """Copy the jars into the cache once; None where Java 17+ or Maven is missing."""
    if not _java_is_new_enough():
        return None
    cache = Path(os.environ.get("NEO4J_TEST_CACHE", _REPO / ".cache"))
    jars = cache / f"neo4j-{_VERSION}"
    if jars.is_dir() or not shutil.which("mvn"):
        return jars if jars.is_dir() else None
    cache.mkdir(parents=True, exist_ok=True)
    # Copied aside and renamed: a second test session never sees half a folder.
    with tempfile.TemporaryDirectory(dir=cache) as aside:
        target = f"-DoutputDirectory={aside}/jars"
        pom = str(_RECIPE / "pom.xml")
        _run("mvn", "-B", "-q", "-f", pom, "dependency:copy-dependencies", target, "-DincludeScope=runtime")
        if not jars.is_dir():
            (Path(aside) / "jars").rename(jars)
    return jars


def start_neo4j(*, java: tuple[str, ...] = QUICK_TO_START) -> Neo4jServer | None:
    """Start or find a server in the order of the module's first line; None where there is no way."""
    if uri := os.environ.get("NEO4J_TEST_URI"):
        return OwnServer(uri)
    if _works("docker", "info"):
        return DockerServer()
    if jars := load_jars():
        return JavaServer(jars, java=java)
    return None


def _give_up() -> NoReturn:
    if "1" in (os.environ.get("REQUIRE_NEO4J"), os.environ.get("REQUIRE_ALL")):
        pytest.fail(_HOW_TO_PROVIDE)
    pytest.skip(_HOW_TO_PROVIDE)


@contextmanager
def running_neo4j() -> Iterator[Neo4jServer]:
    """Yield a server and stop it afterwards; without one skip, or fail under REQUIRE_NEO4J or REQUIRE_ALL."""
    server = start_neo4j()
    if server is None:
        _give_up()
    try:
        yield server
    finally:
        server.stop()
