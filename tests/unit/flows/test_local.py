"""The engine of a run in this process: tries again, works side by side, raises the error that stops it."""

import threading
from collections.abc import Callable
from typing import Any, cast

import pytest

from flows import start, tasks
from flows.run.resources import Resources
from flows.run.stage import Stage
from flows.run.values import Batch, ComparedSource, CrawlWave, Embedded, FetchedBatch, ParsedBatch, Run
from flows.start import LocalEngine
from schemas.cost import Cause
from schemas.errors import ParseError, Stopped, StoreUnavailable

RUN = Run(index="index", source="handbook", run_id="1")


class Parts:
    """What the engine asks of a run's resources."""

    def __init__(self) -> None:
        self.stop = threading.Event()


@pytest.fixture
def parts(monkeypatch: pytest.MonkeyPatch) -> Parts:
    monkeypatch.setattr(start, "SECONDS_BETWEEN_TRIES", (0.0, 0.0))
    return Parts()


def engine(parts: Parts) -> LocalEngine:
    return LocalEngine(cast("Resources", parts))


def stage_of(step: Callable[..., Any], *, is_retried: bool = False) -> Stage[..., Any]:
    return Stage(step, cause=Cause.PLAN, name="s", run_name="s", is_retried=is_retried)


def wave(*shards: int) -> CrawlWave:
    """Shards of so many batches each."""
    batches = [
        Batch(shard=str(shard), number=number, uris=(f"{shard}-{number}",))
        for shard, count in enumerate(shards)
        for number in range(count)
    ]
    return CrawlWave(number=1, batches=tuple(batches))


@pytest.mark.parametrize(
    ("is_retried", "failures", "tries"), [(True, 0, 1), (True, 2, 3), (True, 3, 3), (False, 1, 1)]
)
def test_a_stage_is_tried_three_times_where_that_may_help(
    parts: Parts, is_retried: bool, failures: int, tries: int
) -> None:
    told: list[int] = []

    def step() -> str:
        told.append(1)
        if len(told) <= failures:
            raise StoreUnavailable("went away", subject="ledger")
        return "done"

    with engine(parts) as running:
        stage = stage_of(step, is_retried=is_retried)
        if failures < tries:
            assert running.call(stage) == "done"
        else:
            with pytest.raises(StoreUnavailable):
                running.call(stage)
    assert len(told) == tries


def test_what_will_not_pass_is_not_tried_again(parts: Parts) -> None:
    told: list[int] = []

    def step() -> None:
        told.append(1)
        raise ParseError("is no page", subject="page")

    with pytest.raises(ParseError), engine(parts) as running:
        running.call(stage_of(step, is_retried=True))
    assert told == [1]


def test_batches_of_a_shard_come_in_turn_shards_side_by_side_and_each_is_parsed_behind(
    parts: Parts, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetched: list[str] = []
    both = threading.Barrier(2, timeout=60)

    def fetch(_run: Run, batch: Batch, _before: object) -> FetchedBatch:
        if batch.name.endswith("-0"):
            both.wait()
        fetched.append(batch.name)
        return FetchedBatch(documents=len(batch.uris))

    def parse(_run: Run, batch: Batch, done: FetchedBatch) -> ParsedBatch:
        assert batch.name in fetched
        return ParsedBatch(documents=done.documents)

    monkeypatch.setattr(tasks, "fetch", stage_of(fetch))
    monkeypatch.setattr(tasks, "parse", stage_of(parse))

    with engine(parts) as running:
        done = running.crawl_wave(RUN, wave(2, 3))

    assert [type(one) for one in done] == [FetchedBatch, ParsedBatch] * 5
    assert [name for name in fetched if name[0] == "1"] == ["1-0", "1-1", "1-2"]


@pytest.mark.parametrize("failing", ["fetch", "parse"])
def test_an_error_stops_what_is_beside_it_and_is_the_one_that_is_raised(
    parts: Parts, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    def fetch(_run: Run, batch: Batch, _before: object) -> FetchedBatch:
        if failing == "fetch" and batch.shard == "1":
            raise ParseError("the cause", subject=batch.name)
        if batch.shard == "0" and parts.stop.wait(60):
            raise Stopped("because of the other", subject=batch.name)
        return FetchedBatch(documents=1)

    def parse(_run: Run, batch: Batch, _done: FetchedBatch) -> ParsedBatch:
        raise ParseError("the cause", subject=batch.name)

    monkeypatch.setattr(tasks, "fetch", stage_of(fetch))
    monkeypatch.setattr(tasks, "parse", stage_of(parse))

    with pytest.raises(ParseError, match="the cause"), engine(parts) as running:
        running.crawl_wave(RUN, wave(3, 1))
    assert parts.stop.is_set()


def test_what_an_error_beside_it_stopped_ends_with_that_error(
    parts: Parts, monkeypatch: pytest.MonkeyPatch
) -> None:
    def embed(_run: Run, _compared: ComparedSource) -> Embedded:
        raise ParseError("the cause", subject="embed")

    def link() -> None:
        parts.stop.wait(60)
        raise Stopped("because of the other", subject="link")

    monkeypatch.setattr(tasks, "embed", stage_of(embed))
    compared = ComparedSource(base=0, difference="d", documents=1, fragments=("one",))

    def walk() -> None:
        with engine(parts) as running:
            running.embed(RUN, compared)
            running.call(stage_of(link))

    with pytest.raises(ParseError, match="the cause"):
        walk()
