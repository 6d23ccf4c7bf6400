"""Runs as JSON."""

import pytest

from retrieval.iterative.loop import iterate
from retrieval.iterative.saving import dump_iteration, load_iteration
from schemas.errors import ConfigError
from tests.fakes.novels import Likes, ask, novels_index, retriever_of


def test_a_run_comes_back_as_it_was() -> None:
    index = novels_index()
    run = iterate(retriever_of(index), index.graph, ask(), reranker=Likes(-1.0))
    assert load_iteration(dump_iteration(run)) == run


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"version": 1}', '{"version": 2}', '{"version": 1, "log": 3}']
)
def test_what_is_no_saved_run_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="saved run"):
        load_iteration(text)
