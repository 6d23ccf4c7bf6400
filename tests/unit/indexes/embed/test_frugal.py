"""Two encoders of one model, chosen by how much there is to encode."""

import numpy as np

from indexes.embed.frugal import FrugalEncoder
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


def test_questions_and_counts_go_to_the_light_one_at_any_time() -> None:
    light, heavy = HashEncoder(), HashEncoder(dim=64)
    encoder = FrugalEncoder(light, heavy, light_characters=0)
    encoder.encode_documents(["much"])

    assert np.array_equal(encoder.encode_query("why"), light.encode_query("why"))
    assert encoder.count_tokens("two words") == 2
    assert (encoder.dim, encoder.model_sha256) == (light.dim, light.model_sha256)
