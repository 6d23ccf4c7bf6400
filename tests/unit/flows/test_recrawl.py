"""The engine that runs stages as Prefect tasks."""

import gc
import weakref
from typing import cast

import pytest

from flows.recrawl import PrefectEngine
from flows.run.resources import Resources
from flows.run.stage import Stage


class _Value:
    """What a stage gives; unlike those with slots, it can be watched."""


def test_what_a_stage_gave_lives_as_long_as_the_run_so_that_no_other_value_gets_its_address(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("flows.recrawl.task_of", lambda stage: stage)
    engine = PrefectEngine(cast("Resources", None), None, remote=None)

    watched = weakref.ref(engine.call(cast("Stage[[], _Value]", _Value)))
    gc.collect()

    assert watched() is not None
