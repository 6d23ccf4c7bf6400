"""How often Python looks for objects that refer to each other and nothing else refers to."""

import gc

THRESHOLD = 50_000
"""Objects made and kept between two looks; Python's own choice is 700."""


def raise_gc_threshold() -> None:
    """Look seldom: imports make a million objects that stay, and the names of a large index as many again.

    By default a quarter of a command's imports goes to looking at them, and a seventh of a run's CPU time.
    """
    gc.set_threshold(THRESHOLD)
