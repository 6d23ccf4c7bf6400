"""Work in threads: a bounded number at a time, a bounded number waiting."""

import asyncio
import threading
import time
from collections.abc import Callable

import pytest

from sitegraph.service.parts import Threads, ends_in_time
from sitegraph.service.problems import HttpProblem


def threads_of(*, working: int, waiting: int, clock: Callable[[], float] = time.monotonic) -> Threads:
    return Threads(working=working, waiting=waiting, seconds=15.0, clock=clock)


@pytest.mark.parametrize(
    ("waited", "before", "took", "working", "in_time"),
    [
        (0.0, 1, 0.0, 4, True),  # nothing is known yet
        (0.0, 32, 1.0, 4, True),
        (0.0, 3, 4.0, 4, True),
        (0.0, 4, 4.0, 4, False),
        (0.0, 2, 3.0, 1, True),
        (0.0, 3, 3.0, 1, False),
        (3.0, 0, 4.0, 4, True),
        (3.1, 0, 4.0, 4, False),  # others took longer than was expected
        (0.0, 1, 6.0, 4, False),
    ],
)
def test_what_is_before_it_and_what_an_answer_takes_decide_whether_work_ends_in_time(
    waited: float, before: int, took: float, working: int, in_time: bool
) -> None:
    found = ends_in_time(waited=waited, before=before, took=took, working=working, seconds=15.0)
    assert found is in_time


@pytest.mark.parametrize(("first_takes", "answered"), [(3.0, 2), (9.0, 0)])
def test_the_line_ends_where_answers_come_too_late_and_who_waited_too_long_is_not_begun(
    first_takes: float, answered: int
) -> None:
    now, done = [0.0], list[int]()

    def take(seconds: float) -> None:
        now[0] += seconds

    async def ask() -> int:
        threads, go = threads_of(working=1, waiting=32, clock=lambda: now[0]), threading.Event()
        for _ in range(30):
            await threads.run(lambda: take(3.0))
        await asyncio.sleep(0.01)
        begun = asyncio.ensure_future(threads.run(lambda: (go.wait(60), take(first_takes))))
        line = [asyncio.ensure_future(threads.run(lambda: done.append(1))) for _ in range(5)]
        await asyncio.sleep(0.01)
        refused_at_once = sum(one.done() for one in line)
        go.set()
        await begun
        for one in await asyncio.gather(*line, return_exceptions=True):
            assert one is None or (isinstance(one, HttpProblem) and one.headers == {"Retry-After": "2"})
        threads.close()
        return refused_at_once

    assert asyncio.run(ask()) == 3
    assert len(done) == answered


@pytest.mark.parametrize(("took", "times", "waiting"), [(6.0, 30, 0), (300.0, 1, 3)])
def test_a_free_thread_begins_what_comes_however_long_answers_took(
    took: float, times: int, waiting: int
) -> None:
    now = [0.0]

    def take(seconds: float) -> None:
        now[0] += seconds

    async def ask() -> None:
        threads, go = threads_of(working=4, waiting=3, clock=lambda: now[0]), threading.Event()
        for _ in range(times):
            await threads.run(lambda: take(took))
            await asyncio.sleep(0.01)
        begun = [asyncio.ensure_future(threads.run(lambda: go.wait(60))) for _ in range(4 + waiting)]
        await asyncio.sleep(0)
        with pytest.raises(HttpProblem):
            await threads.run(lambda: None)
        go.set()
        assert all(await asyncio.gather(*begun))
        threads.close()

    asyncio.run(ask())


def test_what_is_too_much_is_turned_away_until_places_are_free() -> None:
    async def fill_and_free() -> list[str]:
        threads, go = threads_of(working=1, waiting=1), threading.Event()
        under_way = [asyncio.ensure_future(threads.run(lambda: str(go.wait(5)))) for _ in range(2)]
        await asyncio.sleep(0)
        with pytest.raises(HttpProblem, match="too many") as refused:
            await threads.run(lambda: "never")
        assert (refused.value.status, refused.value.headers) == (503, {"Retry-After": "2"})
        go.set()
        answers = await asyncio.gather(*under_way)
        await asyncio.sleep(0.01)
        answers.append(await threads.run(lambda: "again"))
        threads.close()
        return answers

    assert asyncio.run(fill_and_free()) == ["True", "True", "again"]


def test_who_leaves_keeps_their_place_until_the_work_ends() -> None:
    async def leave() -> None:
        threads, go = threads_of(working=1, waiting=0), threading.Event()
        left = asyncio.ensure_future(threads.run(lambda: go.wait(5)))
        await asyncio.sleep(0.05)
        left.cancel()
        with pytest.raises(asyncio.CancelledError):
            await left
        with pytest.raises(HttpProblem):
            await threads.run(lambda: None)
        go.set()
        while True:
            try:
                await threads.run(lambda: None)
            except HttpProblem:
                await asyncio.sleep(0.01)
            else:
                break
        threads.close()

    asyncio.run(asyncio.wait_for(leave(), timeout=120))


def test_what_work_raises_comes_out() -> None:
    async def fail() -> None:
        threads = threads_of(working=1, waiting=0)
        try:
            await threads.run(lambda: 1 / 0)
        finally:
            threads.close()

    with pytest.raises(ZeroDivisionError):
        asyncio.run(fail())
