"""Several transactions at once have the effect of one after the other."""

import threading
import time

import pytest

from indexes.stores.neo4j_.concurrent_batches import WRITERS, write_batches


def test_batches_are_written_at_once() -> None:
    together = threading.Barrier(WRITERS, timeout=10)
    write_batches(
        [[str(number)] for number in range(WRITERS)], lambda _batch: together.wait() and None, key=str
    )


def test_a_batch_waits_for_others_that_have_one_of_its_ids() -> None:
    written: list[str] = []

    def write(batch: list[str]) -> None:
        time.sleep(0.2 if batch[0] == "first" else 0)
        written.append(batch[0])

    write_batches([["first", "shared"], ["other"], ["last", "shared"]], write, key=str)
    assert written == ["other", "first", "last"]


def test_an_error_is_raised_when_what_was_begun_is_done_and_nothing_else_is_begun() -> None:
    done: list[str] = []

    def write(batch: list[str]) -> None:
        if batch == ["0"]:
            raise ValueError("refused")
        time.sleep(0.1)
        done.append(batch[0])

    with pytest.raises(ValueError, match="refused"):
        write_batches(([str(number)] for number in range(100)), write, key=str)
    seen = len(done)
    assert seen <= WRITERS + 1
    time.sleep(0.3)
    assert len(done) == seen


def test_an_error_of_the_rows_themselves_comes_out_as_it_is() -> None:
    def batches() -> "list[list[str]]":
        raise InterruptedError("a newer run has taken over")

    with pytest.raises(InterruptedError):
        write_batches((batch for _ in "x" for batch in batches()), lambda _batch: None, key=str)


def test_nothing_to_write_starts_no_thread() -> None:
    before = threading.active_count()
    write_batches([], lambda _batch: None, key=str)
    assert threading.active_count() == before
