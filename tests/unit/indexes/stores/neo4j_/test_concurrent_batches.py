"""Several transactions at once have the effect of one after the other."""

import threading
import time
from collections.abc import Iterator

import pytest

from indexes.stores.neo4j_.batches import WRITERS, GoOn, WritingStopped, write_batches


def test_batches_are_written_at_once() -> None:
    together = threading.Barrier(WRITERS, timeout=10)

    def write(_batch: list[str], _go_on: GoOn) -> None:
        together.wait()

    write_batches([[str(number)] for number in range(2 * WRITERS)], write, key=str)


def test_a_batch_waits_for_others_that_have_one_of_its_ids() -> None:
    written: list[str] = []
    other_is_written = threading.Event()

    def write(batch: list[str], _go_on: GoOn) -> None:
        if batch[0] == "first":
            assert other_is_written.wait(10)
        written.append(batch[0])
        if batch[0] == "other":
            other_is_written.set()

    write_batches([["first", "shared"], ["other"], ["last", "shared"]], write, key=str)
    assert written == ["other", "first", "last"]


def test_an_error_stops_what_is_being_written_and_is_raised_when_nothing_is() -> None:
    begun, stopped = set[str](), set[str]()

    def write(batch: list[str], go_on: GoOn) -> None:
        begun.add(batch[0])
        if batch == ["1"]:
            raise ValueError("refused")
        end = time.monotonic() + 10
        try:
            while time.monotonic() < end:
                go_on()
                time.sleep(0.01)
        except WritingStopped:
            stopped.add(batch[0])
            raise

    with pytest.raises(ValueError, match="refused"):
        write_batches(([str(number)] for number in range(100)), write, key=str)
    assert (begun, stopped) == ({"0", "1"}, {"0"})


def test_an_interrupt_waits_for_nobody_and_nothing_is_committed_after_it() -> None:
    answers, stopped = threading.Event(), threading.Event()

    def write(_batch: list[str], go_on: GoOn) -> None:
        answers.wait(10)
        try:
            go_on()
        except WritingStopped:
            stopped.set()
            raise

    def batches() -> Iterator[list[str]]:
        yield ["one"]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_batches(batches(), write, key=str)
    assert not stopped.is_set()
    answers.set()
    assert stopped.wait(10)


def test_an_error_of_the_rows_themselves_comes_out_as_it_is() -> None:
    def batches() -> Iterator[list[str]]:
        yield ["one"]
        raise InterruptedError("a newer run has taken over")

    written = []
    with pytest.raises(InterruptedError):
        write_batches(batches(), lambda batch, _go_on: written.append(batch), key=str)
    assert written == [["one"]]
