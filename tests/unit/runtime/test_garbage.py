"""How often Python looks for objects in circles."""

import gc
from collections.abc import Iterator

import pytest

from runtime.settings import THRESHOLD, raise_gc_threshold


@pytest.fixture(autouse=True)
def as_it_was() -> Iterator[None]:
    """Leave the process as it was found."""
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)


def test_only_the_first_threshold_rises_and_circles_are_still_found() -> None:
    gc.set_threshold(700, 10, 10)

    raise_gc_threshold()

    assert gc.get_threshold() == (THRESHOLD, 10, 10)
    assert gc.isenabled()
