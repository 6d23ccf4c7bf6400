"""Which arithmetic is chosen."""

import pytest

from indexes.embed.routes import CHECK_TEXTS, EXPORT_TEXTS, Dtype, EncodingRoute, choose_route
from indexes.embed.tokens import TokenCounter
from indexes.embed.weights import load_model_spec


@pytest.mark.parametrize(
    ("cosine", "seconds", "route", "reason"),
    [
        (0.99997, ((3.0, 1.0),), EncodingRoute.BF16_AUTOCAST, "3.0x as fast"),
        (0.9999, ((3.0, 1.0),), EncodingRoute.BF16_AUTOCAST, "cosine 0.999900"),
        (0.9998, ((3.0, 1.0),), EncodingRoute.FP32, "differs too much"),
        (float("nan"), ((3.0, 1.0),), EncodingRoute.FP32, "differs too much"),
        (0.99997, ((1.0, 1.5),), EncodingRoute.FP32, "not faster"),
        (0.99997, ((1.0, 1.0),), EncodingRoute.FP32, "not faster"),
        (0.99997, ((3.0, 9.0), (8.0, 1.0)), EncodingRoute.BF16_AUTOCAST, "3.0x as fast"),
    ],
    ids=[
        "exact and fast",
        "just exact",
        "too rough",
        "not a number",
        "slow",
        "no gain",
        "a busy moment each",
    ],
)
def test_bf16_is_used_where_it_is_exact_enough_and_faster(
    cosine: float, seconds: tuple[tuple[float, float], ...], route: EncodingRoute, reason: str
) -> None:
    check = choose_route(cosine=cosine, seconds=seconds)

    assert check.route is route
    assert reason in check.reason


def test_bf16_that_is_asked_for_need_not_be_faster_but_exact() -> None:
    slow = ((1.0, 1.5),)

    assert choose_route(cosine=0.99997, seconds=slow, dtype=Dtype.BF16).route is EncodingRoute.BF16_AUTOCAST
    assert choose_route(cosine=0.998, seconds=slow, dtype=Dtype.BF16).route is EncodingRoute.FP32


def test_the_check_runs_from_a_few_tokens_to_more_than_the_limit() -> None:
    counter = TokenCounter(load_model_spec().path / "tokenizer.json")
    lengths = [counter.count(text) for text in CHECK_TEXTS]

    assert len(set(CHECK_TEXTS)) == 32
    assert min(lengths) <= 8
    assert max(lengths) > 254
    assert sum(50 <= length <= 200 for length in lengths) >= 12


def test_an_export_is_checked_from_a_few_tokens_to_more_than_the_limit_too() -> None:
    counter = TokenCounter(load_model_spec().path / "tokenizer.json")
    lengths = [counter.count(text) for text in EXPORT_TEXTS]

    assert set(EXPORT_TEXTS) < set(CHECK_TEXTS)
    assert min(lengths) <= 8
    assert max(lengths) > 254
    assert sum(50 <= length <= 254 for length in lengths) >= 2
