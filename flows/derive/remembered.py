"""Answers that are asked for again and again, many of which are that there is nothing."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

T = TypeVar("T")

NOTHINGS_KEPT = 200_000
"""Keys without an answer that are remembered: some 20 MB of short texts."""


@dataclass(slots=True)
class Remembered(Generic[T]):
    """What was found under keys, and under how many nothing was."""

    _found: dict[str, T] = field(default_factory=dict)
    _nothing: set[str] = field(default_factory=set)

    def among(
        self, keys: Collection[str], look_up: Callable[[Collection[str]], Mapping[str, T]]
    ) -> dict[str, T]:
        """Return what there is under the keys; those not seen before are looked up, all at once."""
        unknown = {*keys} - self._found.keys() - self._nothing
        found = look_up(unknown)
        if len(self._nothing) > NOTHINGS_KEPT:
            self._nothing.clear()
        self._found |= found
        self._nothing |= unknown - found.keys()
        return {key: self._found[key] for key in keys if key in self._found}
