"""Two encoders of one model, chosen by how much there is to encode."""

import math

import numpy as np
import pytest

from indexes.embed.frugal import BF16_PAYS, GPU_PAYS, FrugalEncoder, light_characters
from indexes.embed.routes import Dtype, EncodingRoute, RouteCheck
from tests.fakes.encoder import HashEncoder


def test_few_texts_never_reach_the_heavy_encoder() -> None:
    light, heavy = HashEncoder(), HashEncoder()
    encoder = FrugalEncoder(light, heavy, light_characters=100)

    encoder.encode_documents(["a" * 40])
    encoder.encode_documents(["b" * 60])

    assert (light.encoded, heavy.encoded) == (2, 0)


def test_once_there_is_much_the_heavy_encoder_does_the_rest() -> None:
    light, heavy = HashEncoder(), HashEncoder()
    encoder = FrugalEncoder(light, heavy, light_characters=100)

    for text in ("a" * 80, "b" * 30, "c"):
        encoder.encode_documents([text])

    assert (light.encoded, heavy.encoded) == (1, 2)


def test_what_is_said_to_be_much_never_begins_with_the_light_encoder() -> None:
    light, heavy = HashEncoder(), HashEncoder()
    encoder = FrugalEncoder(light, heavy, light_characters=100)

    encoder.expect(["a" * 60, "b" * 60])
    encoder.encode_documents(["a" * 60])

    assert (light.encoded, heavy.encoded) == (0, 1)


def test_where_bf16_is_found_not_to_pay_the_light_encoder_goes_on() -> None:
    light, heavy = HashEncoder(), HashEncoder()
    encoder = FrugalEncoder(light, heavy, light_characters=0, pays_in_bf16=True)

    encoder.encode_documents(["a"])
    heavy.route_check = RouteCheck(route=EncodingRoute.FP32, reason="bf16 is slower", speedup=0.6)
    encoder.encode_documents(["b", "c"])

    assert (light.encoded, heavy.encoded) == (2, 1)


def test_questions_and_counts_go_to_the_light_one_at_any_time() -> None:
    light, heavy = HashEncoder(), HashEncoder(dim=64)
    encoder = FrugalEncoder(light, heavy, light_characters=0)
    encoder.encode_documents(["much"])

    assert np.array_equal(encoder.encode_query("why"), light.encode_query("why"))
    assert encoder.count_tokens("two words") == 2
    assert (encoder.dim, encoder.model_sha256) == (light.dim, light.model_sha256)


@pytest.mark.parametrize(
    ("dtype", "on_gpu", "fast_bf16", "torch", "characters"),
    [
        (Dtype.AUTO, False, True, True, BF16_PAYS),
        (Dtype.AUTO, False, False, True, math.inf),
        (Dtype.AUTO, False, True, False, math.inf),
        (Dtype.FP32, False, True, True, math.inf),
        (Dtype.FP32, True, False, True, GPU_PAYS),
        (Dtype.AUTO, True, True, False, 0),
        (Dtype.BF16, False, False, False, 0),
    ],
)
def test_torch_is_left_where_it_is_not_faster(
    dtype: Dtype, on_gpu: bool, fast_bf16: bool, torch: bool, characters: float
) -> None:
    assert light_characters(dtype, on_gpu=on_gpu, fast_bf16=fast_bf16, torch=torch) == characters
