"""Runs as JSON."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from retrieval.iterative.loop import Iteration, advance, dump_iteration, iterate, load_iteration, start
from schemas.errors import ConfigError
from schemas.evidence import ContextBundle, Query
from tests.fakes.novels import Likes, ask, novels_index, retriever_of


def test_a_run_comes_back_as_it_was() -> None:
    index = novels_index()
    run = iterate(retriever_of(index), index.graph, ask(), reranker=Likes(-1.0))
    assert load_iteration(dump_iteration(run)) == run


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '{"version": 1}', '{"version": 2}', '{"version": 1, "log": 3}', "[" * 100_000],
    ids=range(7),
)
def test_what_is_no_saved_run_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="saved run"):
        load_iteration(text)


def _more_steps(run: dict[str, Any]) -> None:
    run["state"]["steps"] = 9


def _another_type(run: dict[str, Any]) -> None:
    run["state"]["steps"] = "four"


def _lost_step(run: dict[str, Any]) -> None:
    run["log"].pop()


def _another_graph(run: dict[str, Any]) -> None:
    run["state"]["graph"]["mentions"] = []


def _another_passage(run: dict[str, Any]) -> None:
    run["log"][0]["seen"]["bundle"]["evidence"] = []


@pytest.mark.parametrize("spoil", [_more_steps, _another_type, _lost_step, _another_graph, _another_passage])
def test_a_saved_run_that_was_changed_is_refused(spoil: Callable[[dict[str, Any]], None]) -> None:
    index = novels_index()
    record = json.loads(
        dump_iteration(iterate(retriever_of(index), index.graph, ask(), reranker=Likes(-1.0)))
    )
    spoil(record)
    with pytest.raises(ConfigError):
        load_iteration(json.dumps(record))


def test_a_run_is_not_gone_on_with_in_another_generation() -> None:
    index = novels_index()

    class Published:
        def retrieve(self, query: Query) -> ContextBundle:
            return replace(retriever_of(index).retrieve(query), generation=2)

    run = iterate(retriever_of(index), index.graph, ask(), reranker=Likes(-1.0), steps=2)
    begun = Iteration(state=advance(start(run.state.question, steps=2), run.log[0]), log=run.log[:1])
    assert iterate(retriever_of(index), index.graph, ask(), reranker=Likes(-1.0), resume=begun) == run
    with pytest.raises(ConfigError, match="saw generation 1"):
        iterate(Published(), index.graph, ask(), reranker=Likes(-1.0), resume=begun)
