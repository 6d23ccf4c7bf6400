"""What the ports Encoder and TokenEncoder promise, over every encoder that ships."""

import os
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from random import Random

import numpy as np
import pytest

from indexes.embed.child import ChildEncoder
from indexes.embed.encoder import SentenceTransformerEncoder, offline_environment
from indexes.embed.frugal import FrugalEncoder
from indexes.embed.named_models import DEFAULT_MODEL, NAMED_MODELS
from indexes.embed.pooling import pool_tokens
from indexes.embed.reader_encoder import OnnxEncoder
from indexes.embed.routes import Dtype, EncodingRoute, RouteCheck
from indexes.embed.weights import load_model_spec
from indexes.ports import TokenEncoder
from schemas.errors import ConfigError
from tests.fakes.exported_encoder import place_exported_encoder

EXACT = replace(load_model_spec(), dtype=Dtype.FP32, token_vectors=True)

TEXTS = (
    "Set autovacuum_vacuum_threshold to the least number of dead rows.",
    "Die Straße führt nach Zürich.",
    "x",
    "backup " * 400,
    "Restore the archive before you start the server. Then look into its log for what it says of tables.",
)


@pytest.fixture(scope="module")
def in_torch() -> SentenceTransformerEncoder:
    """The default model in this process, which takes seconds to load; its threads have their own batches."""
    os.environ.update(offline_environment())
    return SentenceTransformerEncoder(EXACT, clock=time.process_time, threads=3, batch_size=2)


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> OnnxEncoder:
    """The default model as readers have it."""
    folder = tmp_path_factory.mktemp("index") / "encoder"
    return OnnxEncoder(place_exported_encoder(folder, token_vectors=True))


@pytest.fixture(scope="module", params=["torch", "onnx", "child", "frugal"])
def encoder(
    request: pytest.FixtureRequest, in_torch: SentenceTransformerEncoder, exported: OnnxEncoder
) -> Iterator[TokenEncoder]:
    """The default model, loaded in every way there is."""
    if request.param == "torch":
        yield in_torch
    elif request.param == "onnx":
        yield exported
    elif request.param == "child":
        child = ChildEncoder(EXACT, partial(SentenceTransformerEncoder, clock=time.process_time))
        yield child
        child.close()
    else:
        yield FrugalEncoder(exported, in_torch, light_characters=1000)


def test_it_says_which_model_it_is_and_is_known_by_its_port(encoder: TokenEncoder) -> None:
    assert encoder.dim == 384
    assert encoder.model_sha256 == NAMED_MODELS[DEFAULT_MODEL].sha256["model.safetensors"]
    assert isinstance(encoder, TokenEncoder)


def test_a_query_gives_one_unit_vector(encoder: TokenEncoder) -> None:
    vector = encoder.encode_query("how do I restore a backup?")

    assert vector.shape == (384,)
    assert vector.dtype == np.float32
    assert np.linalg.norm(vector) == pytest.approx(1.0, abs=1e-6)


def test_documents_come_back_in_the_order_given(encoder: TokenEncoder) -> None:
    together = encoder.encode_documents(TEXTS)
    alone = np.stack([encoder.encode_query(text) for text in TEXTS])

    assert together.shape == (5, 384)
    assert together.dtype == np.float32
    assert np.allclose(np.linalg.norm(together, axis=1), 1.0, atol=1e-6)
    # The model has no prompts, so a query and a document of the same words agree.
    assert np.abs(together - alone).max() < 1e-5


def test_no_documents_give_no_vectors(encoder: TokenEncoder) -> None:
    found = encoder.encode_with_tokens(())

    assert encoder.encode_documents(()).shape == (0, 384)
    assert (found.vectors.shape, found.tokens) == ((0, 384), ())


def test_a_text_lies_closest_to_its_paraphrase(encoder: TokenEncoder) -> None:
    question = encoder.encode_query("bring back the data from a backup")
    restore, street = encoder.encode_documents(("Restore the archive before you start.", TEXTS[1]))

    assert question @ restore > question @ street + 0.2


def test_what_exceeds_the_limit_of_tokens_is_cut(encoder: TokenEncoder) -> None:
    exactly_full = "backup " * 254

    assert encoder.encode_query(TEXTS[3]) @ encoder.encode_query(exactly_full) >= 0.99999


def test_tokens_are_counted_without_limit_and_special_ones(encoder: TokenEncoder) -> None:
    assert encoder.count_tokens("") == 0
    assert encoder.count_tokens("restore the archive") == 3
    assert encoder.count_tokens(TEXTS[3]) == 400
    assert encoder.count_tokens("dead_rows") == 3


def test_every_token_of_a_question_has_a_unit_vector_the_special_ones_too(encoder: TokenEncoder) -> None:
    tokens = encoder.encode_query_tokens("restore the archive")

    assert (tokens.dtype, tokens.shape) == (np.float32, (5, 384))
    assert np.allclose(np.linalg.norm(tokens, axis=1), 1, atol=1e-6)


def test_token_vectors_are_those_of_the_text_alone_whatever_stands_beside_it(encoder: TokenEncoder) -> None:
    found = encoder.encode_with_tokens(TEXTS)

    assert np.abs(found.vectors - encoder.encode_documents(TEXTS)).max() < 1e-5
    assert [len(tokens) for tokens in found.tokens] == [4, 2, 1, 43, 4]
    for text, tokens in zip(TEXTS, found.tokens, strict=True):
        (alone,) = encoder.encode_with_tokens([text]).tokens
        assert tokens.dtype == np.float16
        assert np.abs(tokens.astype(np.float32) - alone.astype(np.float32)).max() < 2e-3


def test_the_model_has_no_prompts_so_a_text_gives_its_tokens_as_a_question_does(
    encoder: TokenEncoder,
) -> None:
    (pooled,) = encoder.encode_with_tokens([TEXTS[4]]).tokens

    expected = pool_tokens(encoder.encode_query_tokens(TEXTS[4]))

    assert (pooled.astype(np.float32) * expected.astype(np.float32)).sum(axis=1).min() >= 0.999


def test_what_is_written_without_torch_gives_its_vectors_for_texts_of_all_kinds(
    in_torch: SentenceTransformerEncoder, exported: OnnxEncoder
) -> None:
    texts = _varied(150)

    expected = in_torch.encode_documents(texts)
    found = exported.encode_documents(texts)

    assert np.abs(expected - found).max() < 1e-6
    assert (expected * found).sum(axis=1).min() >= 0.99999


def _varied(number: int) -> list[str]:
    """Texts of no word to far more than the window, in many scripts; always the same."""
    draw = Random(7)
    letters = [
        "etaoinshrdlu",
        "äéßøğž",
        "жшюя",
        "漢字仮名交じり文",
        "한국어",
        "שלום",
        "😀🎉🧪👩\u200d🚀",
        "_-/.:#[](){}",
        "\u200d\x00",
    ]
    words = ["".join(draw.choices(draw.choice(letters), k=draw.randint(1, 9))) for _ in range(500)]
    lengths = [0, 2000, 600, 254, 253, *(draw.randint(1, 14) for _ in range(number - 5))]
    return [" ".join(draw.choices(words, k=length)) for length in lengths]


@pytest.mark.parametrize("device", ["abacus", "meta"])
def test_a_device_that_cannot_be_used_is_named(device: str) -> None:
    os.environ.update(offline_environment())
    encoder = SentenceTransformerEncoder(load_model_spec(), clock=time.process_time, device=device)

    with pytest.raises(ConfigError, match=f"SITEGRAPH_DEVICE: '{device}' cannot be used"):
        encoder.encode_query("how do I restore a backup?")


def test_the_fastest_route_that_is_close_enough_is_taken_where_none_is_asked_for() -> None:
    os.environ.update(offline_environment())
    encoder = SentenceTransformerEncoder(load_model_spec(), clock=time.process_time)

    found = encoder.encode_documents(TEXTS)

    alone = np.stack([encoder.encode_query(text) for text in TEXTS])
    assert (found * alone).sum(axis=1).min() >= 0.9999
    assert encoder.route_check is not None


def test_documents_are_exact_where_fp32_is_asked_for(in_torch: SentenceTransformerEncoder) -> None:
    in_torch.encode_documents(TEXTS)

    assert in_torch.route_check == RouteCheck(route=EncodingRoute.FP32, reason="fp32 is asked for")


def test_threads_with_batches_of_their_own_give_every_text_its_vector(
    in_torch: SentenceTransformerEncoder,
) -> None:
    texts = [f"Document {number} speaks of {'many ' * number}things." for number in range(11)]

    found = in_torch.encode_documents(texts)

    for text, vector in zip(texts, found, strict=True):
        assert np.abs(vector - in_torch.encode_query(text)).max() < 1e-5
