"""The 8-bit screen: it misses no pair that is near, on any chip."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexes.embed.screen import QuantisedScreen, is_exact, open_screen
from indexes.ports import Vector


@pytest.fixture(scope="module")
def screen() -> QuantisedScreen:
    opened = open_screen()
    assert opened is not None
    return opened


def unit(rng: np.random.Generator, rows: int, *, spread: float) -> Vector:
    """Unit vectors around three directions; *spread* 0 makes them equal to one."""
    centres = rng.normal(size=(3, 48))
    vectors = centres[rng.integers(0, 3, rows)] + spread * rng.normal(size=(rows, 48))
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


@given(seed=st.integers(0, 10_000), spread=st.sampled_from([0.0, 0.1, 0.5, 2.0]), cosine=st.floats(-1, 1))
def test_no_pair_is_missed(screen: QuantisedScreen, seed: int, spread: float, cosine: float) -> None:
    rng = np.random.default_rng(seed)
    left, right = unit(rng, 20, spread=spread), unit(rng, 30, spread=spread)

    found = screen.pairs(screen.prepare(left), screen.prepare(right), cosine)

    near = np.flatnonzero((left.astype(np.float64) @ right.T >= cosine).ravel())
    assert set(near.tolist()) <= set(found.tolist())
    assert (np.diff(found) > 0).all()


def test_few_others_are_found(screen: QuantisedScreen) -> None:
    rng = np.random.default_rng(0)
    left, right = unit(rng, 400, spread=0.7), unit(rng, 400, spread=0.7)

    found = screen.pairs(screen.prepare(left), screen.prepare(right), 0.7)

    assert len(found) <= (left @ right.T >= 0.66).sum()


def test_vectors_of_zeros_are_like_nothing(screen: QuantisedScreen) -> None:
    nothing, something = np.zeros((2, 48), np.float32), unit(np.random.default_rng(0), 2, spread=0.5)

    assert not len(screen.pairs(screen.prepare(nothing), screen.prepare(something), 0.5))


class SixteenBits:
    """Multiplies as chips without VNNI do: two neighbouring products are added in 16 bits, and saturate."""

    def run(self, _: None, given: dict[str, Any]) -> list[Any]:
        left, right = given["left"].astype(np.int64), given["right"].astype(np.int64)
        products = left[:, None, :] * right[None, :, :]
        pairs = np.clip(products[..., ::2] + products[..., 1::2], -(2**15), 2**15 - 1)
        return [pairs.sum(axis=2) - 128 * right.sum(axis=1) >= given["least"]]


def test_a_chip_that_saturates_is_known_and_exact_with_seven_bits(screen: QuantisedScreen) -> None:
    saturating = replace(screen, multiply=SixteenBits())

    assert not is_exact(replace(saturating, greatest=127))
    assert is_exact(replace(saturating, greatest=63))


def test_seven_bits_miss_no_pair_either(screen: QuantisedScreen) -> None:
    rng, coarse = np.random.default_rng(0), replace(screen, greatest=63)
    left, right = unit(rng, 60, spread=0.5), unit(rng, 60, spread=0.5)

    found = coarse.pairs(coarse.prepare(left), coarse.prepare(right), 0.8)

    assert set(np.flatnonzero((left @ right.T >= 0.8).ravel()).tolist()) <= set(found.tolist())
