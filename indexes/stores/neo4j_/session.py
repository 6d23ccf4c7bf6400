"""Transactions on a Neo4j server: opened on first use, tried again where that helps, errors in our words."""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar

from schemas.errors import (
    ConfigError,
    FilterError,
    SitegraphError,
    StaleLease,
    StoreUnavailable,
    TerminalError,
)

if TYPE_CHECKING:
    import neo4j

T = TypeVar("T")
Row = Mapping[str, Any]

_CONNECT_SECONDS = 5.0
_LOST_COMMITS = 5
_WAITS = 60
_SCHEMES = ("bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc")
_SPELLED = ", ".join(f"{scheme}://" for scheme in _SCHEMES)
_SETTINGS = "SITEGRAPH_NEO4J_URI, SITEGRAPH_NEO4J_USER and SITEGRAPH_NEO4J_PASSWORD"


class Transaction:
    """One open transaction; values travel as parameters only."""

    def __init__(self, driver_transaction: "neo4j.ManagedTransaction") -> None:
        self._transaction = driver_transaction

    def run(self, statement: str, **parameters: Any) -> list[dict[str, Any]]:
        """Run a statement and give all its rows."""
        return self._transaction.run(statement, parameters).data()


class Connection:
    """A lazily opened driver.

    Args: retry_seconds: how long a deadlock, a restart or a change of leader is waited out.
    """

    def __init__(self, uri: str, user: str, password: str, *, retry_seconds: float) -> None:
        self._uri = uri
        self._auth = (user, password)
        self._retry_seconds = retry_seconds
        self._opened: neo4j.Driver | None = None
        self._lock = Lock()

    def read(self, work: Callable[[Transaction], T]) -> T:
        """Run *work* in a read transaction; it may run more than once.

        Raises: StoreUnavailable, ConfigError.
        """
        from neo4j.exceptions import IncompleteCommit

        def attempt() -> T:
            with self._session() as session:
                return session.execute_read(lambda transaction: work(Transaction(transaction)))

        return self._repeat(attempt, IncompleteCommit)

    def write(self, work: Callable[[Transaction], T]) -> T:
        """Run *work* in a write transaction; it may run more than once, even after it was committed.

        When the connection is lost during a commit nobody knows whether it counted, and the driver
        leaves that case to us: *work* must give the same state when it runs on its own result.
        """
        from neo4j.exceptions import IncompleteCommit

        def attempt() -> T:
            with self._session() as session:
                return session.execute_write(lambda transaction: work(Transaction(transaction)))

        return self._repeat(attempt, IncompleteCommit)

    def sweep(self, statement: str, **parameters: Any) -> None:
        """Run a statement that commits in parts (`IN TRANSACTIONS`), again from the start if broken off."""
        from neo4j.exceptions import ServiceUnavailable, SessionExpired, TransientError

        def attempt() -> None:
            with self._session() as session:
                session.run(statement, parameters).consume()

        self._repeat(attempt, ServiceUnavailable, SessionExpired, TransientError)

    def close(self) -> None:
        """Let go of the driver; the next call opens another."""
        with self._lock:
            if self._opened is not None:
                self._opened.close()
            self._opened = None

    def _repeat(self, attempt: Callable[[], T], *broken_off: type[Exception]) -> T:
        with _our_errors(self._uri):
            for _ in range(_LOST_COMMITS):
                try:
                    return attempt()
                except broken_off:
                    self._wait_until_it_answers()
            return attempt()

    def _wait_until_it_answers(self) -> None:
        from neo4j.exceptions import ServiceUnavailable, SessionExpired, TransientError

        for _ in range(_WAITS):
            try:
                return self._driver().verify_connectivity()
            except (ServiceUnavailable, SessionExpired, TransientError):
                time.sleep(self._retry_seconds / _WAITS)
        return self._driver().verify_connectivity()

    def _session(self) -> "neo4j.Session":
        return self._driver().session(fetch_size=5000)

    def _driver(self) -> "neo4j.Driver":
        with self._lock:
            if self._opened is None:
                self._opened = self._open()
            return self._opened

    def _open(self) -> "neo4j.Driver":
        driver = self._configured()
        try:
            # Without this the first transaction would retry a wrong address for the whole retry time.
            driver.verify_connectivity()
        except BaseException:
            driver.close()
            raise
        return driver

    def _configured(self) -> "neo4j.Driver":
        import neo4j
        from neo4j.exceptions import ConfigurationError

        # The driver also takes http:// as a preview, and then fails for want of another library.
        if self._uri.partition("://")[0] not in _SCHEMES:
            raise ConfigError(
                f"the address must begin with {_SPELLED}; set {_SETTINGS}", subject=_name(self._uri)
            )
        try:
            return neo4j.GraphDatabase.driver(
                self._uri,
                auth=self._auth,
                connection_timeout=_CONNECT_SECONDS,
                max_transaction_retry_time=self._retry_seconds,
                notifications_min_severity="OFF",
                telemetry_disabled=True,
            )
        except (ConfigurationError, ValueError) as error:
            raise ConfigError(
                f"not a usable Neo4j address; set {_SETTINGS}", subject=_name(self._uri)
            ) from error


def _name(uri: str) -> str:
    """Return the address without a user or password that somebody wrote into it."""
    scheme, separator, rest = uri.partition("://")
    return scheme + separator + rest.rpartition("@")[2]


@contextmanager
def _our_errors(uri: str) -> Iterator[None]:
    from neo4j.exceptions import DriverError, Neo4jError

    try:
        yield
    except (DriverError, Neo4jError) as error:
        raise _explain(error, _name(uri)) from error
    except UnicodeEncodeError as error:  # of the driver, for half a surrogate pair
        raise FilterError("is not UTF-8, so no index holds it", subject=repr(error.object[:80])) from error


def _explain(error: "neo4j.exceptions.DriverError | neo4j.exceptions.Neo4jError", uri: str) -> SitegraphError:
    from neo4j.exceptions import ConstraintError, Neo4jError

    code = (error.code or "") if isinstance(error, Neo4jError) else ""
    if code.startswith("Neo.ClientError.Security"):
        return ConfigError(f"Neo4j refused the user or password ({code}); set {_SETTINGS}", subject=uri)
    if isinstance(error, ConstraintError):
        return StaleLease("another writer added the same rows; end it, then run again", subject=uri)
    if not code or error.is_retryable():
        return StoreUnavailable(
            f"Neo4j cannot be reached ({type(error).__name__}); start the server, or check "
            "SITEGRAPH_NEO4J_URI (its scheme too: bolt+s and neo4j+s are for servers with TLS)",
            subject=uri,
        )
    return TerminalError(f"Neo4j refused a statement: {code} {error}", subject=uri)
