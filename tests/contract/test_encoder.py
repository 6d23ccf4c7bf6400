"""What the port Encoder promises, over every encoder that ships."""

import os
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from indexes.embed.child import ChildEncoder
from indexes.embed.encoder import SentenceTransformerEncoder, offline_environment
from indexes.embed.frugal import FrugalEncoder
from indexes.embed.named_models import DEFAULT_MODEL, NAMED_MODELS
from indexes.embed.reader_encoder import OnnxEncoder
from indexes.embed.routes import Dtype, EncodingRoute, RouteCheck
from indexes.embed.weights import load_model_spec
from indexes.ports import Encoder
from schemas.errors import ConfigError
from tests.fakes.exported_encoder import place_exported_encoder

EXACT = replace(load_model_spec(), dtype=Dtype.FP32)

TEXTS = (
    "Set autovacuum_vacuum_threshold to the least number of dead rows.",
    "Die Straße führt nach Zürich.",
    "x",
    "backup " * 400,
    "Restore the archive before you start the server.",
)


@pytest.fixture(scope="module")
def in_torch() -> SentenceTransformerEncoder:
    """The default model in this process, which takes seconds to load."""
    os.environ.update(offline_environment())
    return SentenceTransformerEncoder(load_model_spec(), clock=time.process_time)


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> OnnxEncoder:
    """The default model as readers have it."""
    return OnnxEncoder(place_exported_encoder(tmp_path_factory.mktemp("index") / "encoder"))


@pytest.fixture(scope="module", params=["torch", "onnx", "child", "frugal"])
def encoder(
    request: pytest.FixtureRequest, in_torch: SentenceTransformerEncoder, exported: OnnxEncoder
) -> Iterator[Encoder]:
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


def test_it_says_which_model_it_is(encoder: Encoder) -> None:
    assert encoder.dim == 384
    assert encoder.model_sha256 == NAMED_MODELS[DEFAULT_MODEL].sha256["model.safetensors"]


def test_a_query_gives_one_unit_vector(encoder: Encoder) -> None:
    vector = encoder.encode_query("how do I restore a backup?")

    assert vector.shape == (384,)
    assert vector.dtype == np.float32
    assert np.linalg.norm(vector) == pytest.approx(1.0, abs=1e-6)


def test_documents_come_back_in_the_order_given(encoder: Encoder) -> None:
    together = encoder.encode_documents(TEXTS)
    alone = np.stack([encoder.encode_query(text) for text in TEXTS])

    assert together.shape == (5, 384)
    assert together.dtype == np.float32
    assert np.allclose(np.linalg.norm(together, axis=1), 1.0, atol=1e-6)
    # The model has no prompts, so a query and a document of the same words agree.
    assert (together * alone).sum(axis=1).min() >= 0.9999


def test_no_documents_give_no_vectors(encoder: Encoder) -> None:
    assert encoder.encode_documents(()).shape == (0, 384)


def test_a_text_lies_closest_to_its_paraphrase(encoder: Encoder) -> None:
    question = encoder.encode_query("bring back the data from a backup")
    restore, street = encoder.encode_documents((TEXTS[4], TEXTS[1]))

    assert question @ restore > question @ street + 0.2


def test_what_exceeds_the_limit_of_tokens_is_cut(encoder: Encoder) -> None:
    exactly_full = "backup " * 254

    assert encoder.encode_query(TEXTS[3]) @ encoder.encode_query(exactly_full) >= 0.99999


def test_tokens_are_counted_without_limit_and_special_ones(encoder: Encoder) -> None:
    assert encoder.count_tokens("") == 0
    assert encoder.count_tokens("restore the archive") == 3
    assert encoder.count_tokens(TEXTS[3]) == 400
    assert encoder.count_tokens("dead_rows") == 3


def test_the_exported_encoder_agrees_with_torch_on_queries(
    in_torch: SentenceTransformerEncoder, exported: OnnxEncoder
) -> None:
    for text in TEXTS:
        assert np.abs(in_torch.encode_query(text) - exported.encode_query(text)).max() < 1e-5


@pytest.mark.parametrize("device", ["abacus", "meta"])
def test_a_device_that_cannot_be_used_is_named(device: str) -> None:
    os.environ.update(offline_environment())
    encoder = SentenceTransformerEncoder(load_model_spec(), clock=time.process_time, device=device)

    with pytest.raises(ConfigError, match=f"SITEGRAPH_DEVICE: '{device}' cannot be used"):
        encoder.encode_query("how do I restore a backup?")


def test_documents_are_exact_where_fp32_is_asked_for() -> None:
    os.environ.update(offline_environment())
    encoder = SentenceTransformerEncoder(EXACT, clock=time.process_time)

    found = encoder.encode_documents(TEXTS)

    assert np.abs(found[0] - encoder.encode_query(TEXTS[0])).max() < 1e-5
    assert encoder.route_check == RouteCheck(route=EncodingRoute.FP32, reason="fp32 is asked for")


def test_threads_with_batches_of_their_own_give_every_text_its_vector() -> None:
    os.environ.update(offline_environment())
    encoder = SentenceTransformerEncoder(EXACT, clock=time.process_time, threads=3, batch_size=2)
    texts = [f"Document {number} speaks of {'many ' * number}things." for number in range(11)]

    found = encoder.encode_documents(texts)

    for text, vector in zip(texts, found, strict=True):
        assert np.abs(vector - encoder.encode_query(text)).max() < 1e-5
