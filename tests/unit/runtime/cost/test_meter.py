"""The meter, with real threads and real processes: each cause has what its own work took."""

import subprocess
import sys
import threading
import time
from multiprocessing import get_context

import pytest

from runtime.cost import CostMeter
from schemas.cost import Cause, Costs, settle

WORK = 0.3
"""CPU seconds that a block spends; enough beside the ticks of 0.01 s in which children are counted."""

NOISE = 0.1


def work(seconds: float = WORK) -> None:
    """Use the processor so long in this thread."""
    until = time.thread_time() + seconds
    while time.thread_time() < until:
        pass


def spent(meter: CostMeter, before: Costs) -> dict[str, float]:
    """Seconds by cause since a reading."""
    return {cause: one.cpu for cause, one in settle(meter.read() - before).items()}


def test_the_innermost_block_of_each_thread_has_what_it_did() -> None:
    meter = CostMeter()
    before = meter.read()

    def beside() -> None:
        with meter.block(Cause.FETCH):
            work()

    with meter.block(Cause.LINK):
        thread = threading.Thread(target=beside)
        thread.start()
        work()
        with meter.block(Cause.NAMES):
            work(2 * WORK)
        thread.join()

    seconds = spent(meter, before)
    assert abs(seconds["link"] - WORK) < NOISE, seconds
    assert abs(seconds["names"] - 2 * WORK) < NOISE, seconds
    assert abs(seconds["fetch"] - WORK) < NOISE, seconds


def test_a_thread_that_is_ending_is_not_counted_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python forgets a thread before it has ended."""
    meter, worked, end = CostMeter(), threading.Event(), threading.Event()
    before = meter.read()

    def beside() -> None:
        with meter.block(Cause.FETCH):
            work()
        worked.set()
        end.wait(120)

    thread = threading.Thread(target=beside)
    thread.start()
    worked.wait(120)
    listed = [one for one in threading.enumerate() if one is not thread]
    with monkeypatch.context() as patched, meter.block(Cause.LINK):
        patched.setattr(threading, "enumerate", lambda: listed)
        seconds = spent(meter, before)
    end.set()
    thread.join()
    assert abs(seconds["fetch"] - WORK) < NOISE, seconds
    assert seconds.get("link", 0) < NOISE, seconds


def test_a_block_that_is_still_open_in_another_thread_is_counted() -> None:
    meter, worked, read = CostMeter(), threading.Event(), threading.Event()
    before = meter.read()

    def beside() -> None:
        with meter.block(Cause.FETCH):
            work()
            worked.set()
            read.wait(120)

    thread = threading.Thread(target=beside)
    thread.start()
    worked.wait(120)
    seconds = spent(meter, before)
    read.set()
    thread.join()

    assert seconds["fetch"] >= WORK * 0.99, seconds


def test_work_without_a_cause_is_other_and_all_is_what_the_process_took() -> None:
    meter = CostMeter()
    before, began = meter.read(), time.process_time()
    work()
    with meter.block(Cause.DIFF):
        work()
    seconds = spent(meter, before)

    assert seconds["other"] >= WORK * 0.9, seconds
    assert abs(sum(seconds.values()) - (time.process_time() - began)) < NOISE, seconds


def test_waiting_costs_nothing() -> None:
    meter = CostMeter()
    before = meter.read()
    with meter.block(Cause.VERIFY):
        time.sleep(0.2)

    assert spent(meter, before).get("verify", 0.0) < NOISE


def test_a_child_that_came_and_went_counts_for_the_block_it_was_started_in() -> None:
    meter = CostMeter()
    before = meter.read()
    with meter.block(Cause.PLAN):
        code = f"import time\nwhile time.process_time() < {2 * WORK}: pass"
        subprocess.run([sys.executable, "-c", code], check=True)

    assert spent(meter, before)["plan"] >= WORK, spent(meter, before)


def test_a_child_that_runs_counts_for_what_it_is_wherever_it_was_started() -> None:
    meter, spawn = CostMeter(), get_context("spawn")
    before = meter.read()
    ready, go_on = spawn.Event(), spawn.Event()
    with meter.block(Cause.LINK):
        child = spawn.Process(target=_work_and_wait, args=(ready, go_on), name="encode")
        child.start()
        ready.wait(120)
    seconds = spent(meter, before)
    go_on.set()
    child.join()

    assert seconds["embed"] >= WORK * 0.9, seconds
    assert spent(meter, before)["embed"] >= WORK * 0.9  # and stays so when it has ended


def test_bytes_count_for_the_block_that_wrote_them(tmp_path: object) -> None:
    meter = CostMeter()
    before = meter.read()
    with meter.block(Cause.WRITE), open(f"{tmp_path}/file", "wb") as file:
        file.write(bytes(1_000_000))
        file.flush()

    since = settle(meter.read() - before)
    assert 1_000_000 <= since["write"].written < 1_100_000


def test_a_run_in_a_process_of_its_own_counts_from_its_start_once() -> None:
    meter = CostMeter()
    work()
    meter.charge_past(Cause.START)
    first, second = meter.begin(), meter.begin()

    assert first == Costs()
    assert second.total.cpu > 0
    assert settle(meter.read() - first)["start"].cpu >= WORK


def _work_and_wait(ready: threading.Event, go_on: threading.Event) -> None:
    work()
    ready.set()
    go_on.wait(120)
