"""What the port TokenEncoder promises, over every encoder that ships."""

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
from indexes.embed.pooling import pool_tokens
from indexes.embed.reader_encoder import OnnxEncoder
from indexes.embed.routes import Dtype
from indexes.embed.weights import load_model_spec
from indexes.ports import TokenEncoder
from tests.fakes.exported_encoder import place_exported_encoder

EXACT = replace(load_model_spec(), dtype=Dtype.FP32, token_vectors=True)

TEXTS = (
    "Set autovacuum_vacuum_threshold to the least number of dead rows.",
    "x",
    "backup " * 400,
    "Restore the archive before you start the server. Then look into its log for what it says of tables.",
)


@pytest.fixture(scope="module")
def in_torch() -> SentenceTransformerEncoder:
    """The default model in this process, which takes seconds to load."""
    os.environ.update(offline_environment())
    return SentenceTransformerEncoder(EXACT, clock=time.process_time, threads=2, batch_size=2)


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


def test_it_is_known_by_its_port(encoder: TokenEncoder) -> None:
    assert isinstance(encoder, TokenEncoder)


def test_every_token_of_a_question_has_a_unit_vector_the_special_ones_too(encoder: TokenEncoder) -> None:
    tokens = encoder.encode_query_tokens("restore the archive")

    assert (tokens.dtype, tokens.shape) == (np.float32, (5, 384))
    assert np.allclose(np.linalg.norm(tokens, axis=1), 1, atol=1e-6)


def test_vectors_are_those_that_come_without_token_vectors(encoder: TokenEncoder) -> None:
    found = encoder.encode_with_tokens(TEXTS)

    assert np.abs(found.vectors - encoder.encode_documents(TEXTS)).max() < 1e-5


def test_token_vectors_are_those_of_the_text_alone_whatever_stands_beside_it(encoder: TokenEncoder) -> None:
    together = encoder.encode_with_tokens(TEXTS).tokens

    assert [len(tokens) for tokens in together] == [4, 1, 43, 4]
    for text, tokens in zip(TEXTS, together, strict=True):
        (alone,) = encoder.encode_with_tokens([text]).tokens
        assert tokens.dtype == np.float16
        assert np.abs(tokens.astype(np.float32) - alone.astype(np.float32)).max() < 2e-3


def test_the_model_has_no_prompts_so_a_text_gives_its_tokens_as_a_question_does(
    encoder: TokenEncoder,
) -> None:
    (pooled,) = encoder.encode_with_tokens([TEXTS[3]]).tokens

    expected = pool_tokens(encoder.encode_query_tokens(TEXTS[3]))

    assert (pooled.astype(np.float32) * expected.astype(np.float32)).sum(axis=1).min() >= 0.999


def test_no_documents_give_no_vectors(encoder: TokenEncoder) -> None:
    found = encoder.encode_with_tokens(())

    assert (found.vectors.shape, found.tokens) == ((0, 384), ())
