"""The server and processes that the flow tests run on end with the tests."""

import fcntl
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.fakes.prefect_server import REPO, PrefectServer, poll, running_process
from tests.fakes.shared_server import keep, shared_server

pytestmark = [pytest.mark.system, pytest.mark.server, pytest.mark.timeout(300)]


def test_the_server_of_all_workers_ends_with_the_last_of_them(tmp_path: Path) -> None:
    url, ended = "http://127.0.0.1:9/api", threading.Event()

    @contextmanager
    def pretended(home: Path) -> Iterator[PrefectServer]:
        yield PrefectServer(url=url, environment={})
        ended.set()

    with ExitStack() as first, ExitStack() as last:
        lock = (first.enter_context((tmp_path / "users.lock").open("w")), fcntl.LOCK_SH)
        fcntl.flock(*lock)
        keeper = threading.Thread(target=keep, args=(tmp_path,), kwargs={"running": pretended})
        keeper.start()
        poll(lambda: (tmp_path / "address").exists() or None, timeout=120, what="the server")
        assert last.enter_context(shared_server(tmp_path)).url == url
        first.close()
        assert not ended.wait(0.5)
        last.close()
        assert ended.wait(120)
    keeper.join(120)
    assert not (tmp_path / "address").exists(), "who comes now starts another"


def test_a_process_is_stopped_with_the_children_it_left(tmp_path: Path) -> None:
    note = tmp_path / "child"
    command = ["bash", "-c", f"sleep 600 & echo $! >{note}; wait"]

    with running_process(command, environment={"PATH": "/usr/bin:/bin"}, log=tmp_path / "log"):
        pid = poll(
            lambda: (note.exists() and note.read_text().strip()) or None, timeout=120, what="the child"
        )
        assert _alive(pid)

    poll(lambda: None if _alive(pid) else True, timeout=120, what="the child to be gone")


def test_a_process_ends_with_the_tests_that_are_killed(tmp_path: Path) -> None:
    script = """
import sys, time
from pathlib import Path
from tests.fakes.prefect_server import running_process

path = {"PATH": "/usr/bin:/bin"}
with running_process(["sleep", "600"], environment=path, log=Path(sys.argv[1])) as process:
    print(process.pid, flush=True)
    time.sleep(600)
"""
    tests = subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path / "log")], cwd=REPO, stdout=subprocess.PIPE, text=True
    )
    with tests:
        assert tests.stdout
        pid = tests.stdout.readline().strip()
        # What starts it asks the kernel for the signal first; killed before that, nobody would send one.
        poll(lambda: _name(pid) == "sleep" or None, timeout=120, what="the process to have begun")
        tests.kill()

    poll(lambda: None if _alive(pid) else True, timeout=120, what="the process to be gone")


def _name(pid: str) -> str:
    return Path(f"/proc/{pid}/comm").read_text().strip()


def _alive(pid: str) -> bool:
    stat = Path(f"/proc/{pid}/stat")
    return stat.exists() and stat.read_text().rsplit(")", 1)[1].split()[0] != "Z"
