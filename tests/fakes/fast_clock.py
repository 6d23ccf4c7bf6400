"""Processes that share a clock which runs fast, by libfaketime (Debian's `faketime`): an hour in minutes."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import sqlalchemy as sa

from tests.fakes.later_clock import libfaketime

# The monotonic clock stays real: Python's waits for locks end at a time that libfaketime does not turn back.
# So threads that wait have their seconds made shorter here, and libfaketime does it where select is called.
# What SQLite waits for a lock is made longer: libfaketime shortens its sleeps, not its locks.
# asyncio waits as long as ever, and with it all timeouts of connections: a busy machine breaks none.
_WAITS = """\
import re, select, sqlite3, threading, time
time.sleep = lambda seconds: select.select([], [], [], seconds) and None
_wait = threading.Condition.wait
def wait(self, timeout=None):
    return _wait(self, None if timeout is None else timeout / {rate})
threading.Condition.wait = wait
class Cursor(sqlite3.Cursor):
    def execute(self, sql, *given):
        longer = lambda found: found[1] + str(int(int(found[2]) * {rate}))
        return super().execute(re.sub(r"(busy_timeout *= *)([0-9]+)", longer, sql), *given)
class Connection(sqlite3.Connection):
    def cursor(self, factory=Cursor):
        return super().cursor(factory)
_connect = sqlite3.connect
def connect(*given, **named):
    named["timeout"] = named.get("timeout", 5.0) * {rate}
    return _connect(*given, **{{"factory": Connection, **named}})
sqlite3.connect = sqlite3.dbapi2.connect = connect
"""
_BEGIN = """\
import json, os, sys, time
print(json.dumps([time.time(), dict(os.environ)]), flush=True)
sys.stdin.read()
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class FastClock:
    """A clock that runs *rate* times as fast; `environment` is that of processes that live by it."""

    rate: float
    environment: Mapping[str, str]
    began: float
    began_real: float

    def now(self, *, minutes: float = 0.0) -> datetime:
        """What the clock shows, or will so many of its minutes later."""
        seconds = self.began + (time.time() - self.began_real) * self.rate
        return datetime.fromtimestamp(seconds + minutes * 60, UTC)

    def real(self, minutes: float) -> float:
        """The seconds that so many minutes of the clock take."""
        return minutes * 60 / self.rate

    def govern(self, url: str) -> None:
        """Have now() in a database of PostgreSQL show this clock; CURRENT_TIMESTAMP stays real."""
        passed = f"clock_timestamp() - to_timestamp({self.began_real})"
        shown = f"to_timestamp({self.began}) + ({passed}) * {self.rate}"
        database = sa.make_url(url).set(drivername="postgresql+psycopg")
        engine = sa.create_engine(database, isolation_level="AUTOCOMMIT", poolclass=sa.NullPool)
        with engine.connect() as connection:
            for statement in (
                f"CREATE FUNCTION public.now() RETURNS timestamptz STABLE LANGUAGE sql AS 'SELECT {shown}'",
                # What names no schema is looked for in pg_catalog first, unless the path says otherwise.
                f"ALTER DATABASE {database.database} SET search_path = public, pg_catalog",
            ):
                connection.execute(sa.text(statement))


@contextmanager
def fast_clock(rate: float, *, folder: Path) -> Iterator[FastClock]:
    """Start the clock at the present; all processes with its environment see one time until the block ends.

    Skips the test without libfaketime. File times stay real.
    Args: folder: where a module is put that each Python process imports as it starts.
    """
    libfaketime()
    folder.mkdir(exist_ok=True)
    (folder / "sitecustomize.py").write_text(_WAITS.format(rate=rate))
    path = os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH")]))
    command = ["faketime", "-m", "--exclude-monotonic", "-f", f"+0 x{rate:g}", sys.executable, "-c", _BEGIN]
    # This process holds the moment when the clock began, in shared memory, until its input ends.
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdin is not None
        assert holder.stdout is not None
        began, given = json.loads(holder.stdout.readline())
        clock = {name: value for name, value in given.items() if name.startswith("FAKETIME")}
        clock |= {"LD_PRELOAD": given["LD_PRELOAD"], "NO_FAKE_STAT": "1", "PYTHONPATH": path}
        yield FastClock(rate=rate, environment=clock, began=began, began_real=time.time())
        holder.stdin.close()
