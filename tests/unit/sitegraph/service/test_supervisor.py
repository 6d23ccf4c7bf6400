"""Workers that do not want to end."""

import signal
import time
from multiprocessing import get_context
from multiprocessing.connection import Connection

from sitegraph.service.running import end


def stay(ready: Connection) -> None:
    """Take no notice of SIGTERM."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    ready.send("here")
    time.sleep(60)


def test_a_worker_that_does_not_end_is_killed_and_the_others_are_not_waited_for_twice() -> None:
    spawn = get_context("spawn")
    here, there = spawn.Pipe()
    processes = [spawn.Process(target=stay, args=(there,)) for _ in range(2)]
    for process in processes:
        process.start()
    assert [here.recv() for _ in processes] == ["here", "here"]
    started = time.monotonic()
    end(processes, seconds=0.3)
    assert time.monotonic() - started < 30
    assert [process.exitcode for process in processes] == [-signal.SIGKILL] * 2
