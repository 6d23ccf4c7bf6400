"""Work in threads: a bounded number at a time, a bounded number waiting."""

import asyncio
import threading

import pytest

from sitegraph.service.problems import HttpProblem
from sitegraph.service.threads import Threads


def test_what_is_too_much_is_turned_away_until_places_are_free() -> None:
    async def fill_and_free() -> list[str]:
        threads, go = Threads(working=1, waiting=1), threading.Event()
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
        threads, go = Threads(working=1, waiting=0), threading.Event()
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
        threads = Threads(working=1, waiting=0)
        try:
            await threads.run(lambda: 1 / 0)
        finally:
            threads.close()

    with pytest.raises(ZeroDivisionError):
        asyncio.run(fail())
