"""Token vectors pooled to a sixth as many."""

import numpy as np
import pytest

from indexes.embed.pooling import TOKENS_PER_VECTOR, pool_tokens, to_unit
from indexes.ports import Vector


def tokens_of(number: int, *, seed: int = 0, dim: int = 16) -> Vector:
    return np.random.default_rng(seed).normal(size=(number, dim)).astype(np.float32)


@pytest.mark.parametrize("number", [1, 5, 6, 7, 12, 13, 254])
def test_a_sixth_as_many_are_left_rounded_up_each_of_unit_length(number: int) -> None:
    pooled = pool_tokens(tokens_of(number))

    assert pooled.dtype == np.float16
    assert pooled.shape == (-(-number // TOKENS_PER_VECTOR), 16)
    assert np.allclose(np.linalg.norm(pooled.astype(np.float32), axis=1), 1, atol=1e-3)


def test_what_is_near_each_other_becomes_its_mean_wherever_it_stands() -> None:
    one, other = np.eye(16, dtype=np.float32)[[3, 7]]

    pooled = pool_tokens(np.stack([one, other] * 6))

    assert np.array_equal(pooled, np.stack([one, other]).astype(np.float16))


def test_vectors_stand_in_the_order_of_their_first_token() -> None:
    axes = np.eye(16, dtype=np.float32)[[5, 1, 9]]

    pooled = pool_tokens(np.repeat(axes, TOKENS_PER_VECTOR, axis=0))

    assert pooled.argmax(axis=1).tolist() == [5, 1, 9]


def test_what_another_batch_changes_changes_no_cluster() -> None:
    tokens = to_unit(tokens_of(50))
    noise = tokens_of(50, seed=1) * 1e-7

    apart = np.abs(pool_tokens(tokens).astype(np.float32) - pool_tokens(tokens + noise).astype(np.float32))

    assert apart.max() < 1e-3


def test_a_vector_of_zeros_harms_nothing() -> None:
    assert np.isfinite(pool_tokens(np.zeros((13, 16), np.float32))).all()
