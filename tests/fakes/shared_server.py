"""One Prefect server for all workers of a test session, which starts with the first and ends with the last.

Workers hold a shared lock as long as they live, however they end. A keeper beside them has the server up
until it gets that lock for itself.
"""

import fcntl
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from indexes.places import locked
from tests.fakes.prefect_server import (
    REPO,
    START_SECONDS,
    PrefectServer,
    poll,
    running_server,
    server_environment,
)

_USERS, _STARTING, _ADDRESS, _LOG = "users.lock", "starting.lock", "address", "keeper.log"


@contextmanager
def shared_server(folder: Path) -> Iterator[PrefectServer]:
    """The server that keeps everything under *folder*, started if nobody has it up."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / _USERS).open("w") as users:
        fcntl.flock(users, fcntl.LOCK_SH)  # a keeper that is about to end is waited for
        with locked(folder / _STARTING):
            if not (folder / _ADDRESS).exists():
                _start_keeper(folder)
        url = (folder / _ADDRESS).read_text()
        yield PrefectServer(url=url, environment=server_environment(folder / "home", url))


def _start_keeper(folder: Path) -> None:
    with (folder / _LOG).open("wb") as log:
        keeper = subprocess.Popen(
            [sys.executable, "-m", "tests.fakes.shared_server", str(folder)],
            cwd=REPO,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # Ctrl-C ends the workers, and they end it
        )

    def started() -> bool | None:
        assert keeper.poll() is None, (folder / _LOG).read_text(errors="replace")[-2000:]
        return (folder / _ADDRESS).exists() or None

    poll(started, timeout=START_SECONDS, what="the shared Prefect server")


def keep(
    folder: Path, *, running: Callable[[Path], AbstractContextManager[PrefectServer]] = running_server
) -> None:
    """Have a server up until no worker holds the lock; one that comes meanwhile waits, and starts another."""
    (folder / "home").mkdir(exist_ok=True)
    address = folder / _ADDRESS
    with (folder / _USERS).open("w") as users, running(folder / "home") as server:
        (part := address.with_suffix(".part")).write_text(server.url)
        part.rename(address)
        fcntl.flock(users, fcntl.LOCK_EX)
        address.unlink()


if __name__ == "__main__":
    keep(Path(sys.argv[1]))
