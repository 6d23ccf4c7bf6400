"""Encoding beside other work: what is taken, what is waited for, and how it ends."""

import threading
from collections.abc import Callable, Collection, Iterator

import numpy as np
import pytest

from indexes.embed.pending import BackgroundEncoder
from indexes.ports import Vector
from schemas.errors import SchemaMismatch, Stopped, StoreUnavailable
from tests.fakes.encoder import HashEncoder
from tests.fakes.memory_stores import MemoryVectorCache

PATIENCE = 10.0


class GatedEncoder(HashEncoder):
    """HashEncoder that waits at a gate before each batch; `reached` says that it stands there."""

    def __init__(self) -> None:
        super().__init__()
        self.gate, self.reached = threading.Event(), threading.Event()
        self.failures = 0
        self.sizes: list[int] = []

    def encode_documents(self, texts: Collection[str]) -> Vector:
        self.reached.set()
        assert self.gate.wait(PATIENCE)
        self.sizes.append(len(texts))
        if "bad" in texts:
            raise SchemaMismatch("refused", subject="bad")
        if self.failures:
            self.failures -= 1
            raise StoreUnavailable("the encoder's process ended early", subject="encoder")
        return super().encode_documents(texts)


class Run:
    """A background encoder with all that it says recorded."""

    def __init__(
        self, *, limit: int = 3, batch_size: int = 1, clock: Callable[[], float] = lambda: 0.0
    ) -> None:
        self.encoder, self.cache, self.stop = GatedEncoder(), MemoryVectorCache(), threading.Event()
        self.taken: list[str] = []
        self.saved = 0
        self.encoding = BackgroundEncoder(
            cache=self.cache,
            encoder=self.encoder,
            limit=limit,
            on_taken=self.taken.extend,
            on_encoded=self._count,
            should_stop=self.stop.is_set,
            batch_size=batch_size,
            clock=clock,
        )

    def _count(self, number: int) -> None:
        self.saved += number


@pytest.fixture
def run() -> Iterator[Run]:
    """A run whose gate is closed."""
    run = Run()
    yield run
    run.encoder.gate.set()
    run.encoding.close()


def test_texts_are_encoded_while_the_caller_goes_on(run: Run) -> None:
    assert run.encoding.offer(["one", "two"])
    assert run.encoder.reached.wait(PATIENCE)
    assert (run.encoding.taken, run.encoding.encoded) == (2, 0)

    run.encoder.gate.set()
    found = run.encoding.vectors(["one", "two"])

    assert np.array_equal(found["two"], run.encoder.encode_query("two"))
    assert (run.encoding.encoded, run.saved, sorted(run.taken)) == (2, 2, ["one", "two"])


def test_no_text_is_taken_twice(run: Run) -> None:
    run.encoding.put(["one"])
    assert run.encoder.reached.wait(PATIENCE)
    run.encoding.put(["one", "two"])
    run.encoding.put(["two"])
    run.encoder.gate.set()
    run.encoding.wait()
    run.encoding.put(["one", "two"])

    run.encoding.wait()

    assert run.encoding.taken == run.encoder.encoded == 2


def test_an_offer_without_room_takes_nothing_and_does_not_wait(run: Run) -> None:
    assert run.encoding.offer(["a", "b", "c"])

    assert not run.encoding.offer(["d"])

    assert sorted(run.taken) == ["a", "b", "c"]


def test_who_puts_texts_waits_for_room(run: Run) -> None:
    run.encoding.put(["a", "b", "c"])
    putting = threading.Thread(target=run.encoding.put, args=(["d"],))
    putting.start()
    putting.join(0.05)
    assert putting.is_alive()

    run.encoder.gate.set()
    putting.join(PATIENCE)

    assert not putting.is_alive()
    run.encoding.wait()
    assert run.cache.missing("abcd") == ()


def test_an_error_of_the_encoder_is_raised_where_vectors_are_waited_for(run: Run) -> None:
    run.encoding.put(["bad"])
    run.encoder.gate.set()

    with pytest.raises(SchemaMismatch, match="refused"):
        run.encoding.vectors(["bad"])
    with pytest.raises(SchemaMismatch):
        run.encoding.offer(["good"])


def test_a_stop_ends_the_wait(run: Run) -> None:
    run.stop.set()
    run.encoding.put(["one"])

    with pytest.raises(Stopped):
        run.encoding.wait()

    assert run.encoder.encoded == 0


def test_closing_finishes_the_batch_at_work_and_gives_up_the_rest(run: Run) -> None:
    run.encoding.put(["one"])
    assert run.encoder.reached.wait(PATIENCE)
    run.encoding.put(["two"])
    threading.Timer(0.05, run.encoder.gate.set).start()

    run.encoding.close()

    assert run.cache.missing(["one", "two"]) == ("two",)


@pytest.mark.parametrize(
    "wait_for", [BackgroundEncoder.wait, lambda encoding: encoding.put(["three"])], ids=["wait", "put"]
)
def test_closing_ends_the_wait_for_what_is_given_up(
    run: Run, wait_for: Callable[[BackgroundEncoder], object]
) -> None:
    told: list[Stopped] = []

    def wait() -> None:
        with pytest.raises(Stopped) as raised:
            wait_for(run.encoding)
        told.append(raised.value)

    run.encoding.put(["one"])
    assert run.encoder.reached.wait(PATIENCE)
    assert run.encoding.offer(["two", "and", "more"])
    waiting = threading.Thread(target=wait, daemon=True)
    waiting.start()
    waiting.join(0.05)
    threading.Timer(0.05, run.encoder.gate.set).start()

    run.encoding.close()

    waiting.join(PATIENCE)
    assert len(told) == 1
    with pytest.raises(Stopped):
        run.encoding.wait()


def test_a_run_without_texts_starts_nothing(run: Run) -> None:
    before = threading.active_count()

    run.encoding.put([])
    run.encoding.wait()

    assert threading.active_count() == before


def test_a_failure_that_may_pass_is_told_once_and_the_texts_are_tried_again(run: Run) -> None:
    run.encoder.gate.set()
    run.encoder.failures = 2
    run.encoding.put(["one"])
    for _ in range(2):
        with pytest.raises(StoreUnavailable, match="ended early"):
            run.encoding.vectors(["one"])

    found = run.encoding.vectors(["one"])

    assert np.array_equal(found["one"], run.encoder.encode_query("one"))
    assert (run.encoding.taken, run.encoding.encoded, run.saved) == (1, 1, 1)


def test_of_two_that_wait_one_is_told_of_a_failure_and_the_other_gets_its_vectors(run: Run) -> None:
    told: list[str] = []

    def wait() -> None:
        try:
            run.encoding.wait()
        except StoreUnavailable as error:
            told.append(error.subject)

    run.encoder.failures = 1
    run.encoding.put(["one"])
    waiting = [threading.Thread(target=wait) for _ in range(2)]
    for thread in waiting:
        thread.start()
    run.encoder.gate.set()
    for thread in waiting:
        thread.join(PATIENCE)

    assert not any(thread.is_alive() for thread in waiting)
    assert (told, run.encoding.encoded) == (["encoder"], 1)


@pytest.mark.parametrize(("batch_size", "sizes"), [(16, [64] * 5), (320, [320])])
def test_an_encoder_that_takes_many_long_texts_at_once_is_given_them(
    batch_size: int, sizes: list[int]
) -> None:
    run = Run(batch_size=batch_size)
    run.encoder.gate.set()
    run.encoding.put({f"{number:01000}" for number in range(320)})
    run.encoding.wait()
    run.encoding.close()

    assert run.encoder.sizes == sizes


def test_the_time_that_callers_wait_is_counted_and_nothing_else() -> None:
    seconds = iter(range(100))
    run = Run(clock=lambda: float(next(seconds)))
    run.encoder.gate.set()

    run.encoding.offer(["one"])
    assert run.encoding.seconds_waited == 0.0
    run.encoding.vectors(["one"])
    waited = run.encoding.seconds_waited
    run.encoding.vectors(["one"])

    assert run.encoding.seconds_waited == waited, "what has its vector is not waited for"
    run.encoding.close()
