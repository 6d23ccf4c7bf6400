"""Models that are only there as ONNX: pooled, normalised and encoded as their makers say."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest

from indexes.embed.export import damaged_files, export_onnx
from indexes.embed.manifest import load_encoder_manifest
from indexes.embed.named_models import Pooling
from indexes.embed.onnx_graph import write_given_graph
from indexes.embed.onnx_session import open_session, run_session
from indexes.embed.reader_encoder import OnnxEncoder
from indexes.embed.tokens import TokenCounter
from indexes.embed.weights import ModelSpec, load_model_spec
from schemas.errors import ConfigError

DIM = 4
QUESTION = "How do I restore a backup?"
ANSWER = "Put the archive back with pg_restore, then start the server."
OTHERS = ("The porter sweeps the yard on Mondays.", "Leave is granted by the head of the department.")


def _table() -> np.ndarray:
    return np.random.default_rng(7).normal(size=(30_522, DIM)).astype(np.float32)


@pytest.fixture
def words(tmp_path: Path) -> ModelSpec:
    """A graph that gives each token a vector of its own, whatever stands beside it."""
    folder = tmp_path / "words"
    folder.mkdir()
    node, value = onnx.helper.make_node, onnx.helper.make_tensor_value_info
    names = ("input_ids", "attention_mask", "token_type_ids")
    graph = onnx.helper.make_graph(
        [node("Gather", ["table", "input_ids"], ["last_hidden_state"], axis=0)],
        "words",
        [value(name, onnx.TensorProto.INT64, ["batch", "length"]) for name in names],
        [value("last_hidden_state", onnx.TensorProto.FLOAT, ["batch", "length", DIM])],
        [onnx.numpy_helper.from_array(_table(), "table")],
    )
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 11)], ir_version=8)
    onnx.save(model, str(folder / "model.onnx"))
    tokenizer = (load_model_spec().path / "tokenizer.json").read_bytes()
    (folder / "tokenizer.json").write_bytes(tokenizer)
    return ModelSpec(name="words", path=folder, sha256="a" * 64, dim=DIM, max_tokens=512, graph="model.onnx")


@pytest.mark.parametrize("pooling", Pooling)
def test_token_vectors_are_pooled_over_the_text_and_not_over_its_padding(
    words: ModelSpec, tmp_path: Path, pooling: Pooling
) -> None:
    spec, folder = replace(words, pooling=pooling), tmp_path / "export"
    folder.mkdir()
    (folder / "tokenizer.json").write_bytes((words.path / "tokenizer.json").read_bytes())
    write_given_graph(spec, folder)

    tokens = TokenCounter(folder / "tokenizer.json").encode([ANSWER, "x"], spec.max_tokens)
    found = run_session(open_session(folder, threads=1), tokens)

    for ids, vector in zip(tokens, found, strict=True):
        of_tokens = _table()[ids]
        wanted = of_tokens[0] if pooling is Pooling.CLS else of_tokens.mean(axis=0)
        assert np.allclose(vector, wanted / np.linalg.norm(wanted), atol=1e-6)


def test_a_graph_of_another_kind_is_refused(words: ModelSpec, tmp_path: Path) -> None:
    model = onnx.load(str(words.path / "model.onnx"))
    model.graph.output[0].name = model.graph.node[0].output[0] = "logits"
    onnx.save(model, str(words.path / "model.onnx"))

    with pytest.raises(ConfigError, match="not the graph of an encoder"):
        write_given_graph(words, tmp_path)


@pytest.fixture(scope="module")
def bge(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The export of a real model in int8; read only."""
    try:
        spec = load_model_spec("bge-small-en-v1.5")
    except ConfigError as missing:
        pytest.skip(missing.message)
    folder = tmp_path_factory.mktemp("index") / "encoder"
    export_onnx(spec, folder)
    return folder


def test_the_real_model_finds_the_answer(bge: Path) -> None:
    encoder = OnnxEncoder(bge)

    question = encoder.encode_query(QUESTION)
    cosines = encoder.encode_documents((*OTHERS, ANSWER)) @ question

    assert np.linalg.norm(question) == pytest.approx(1.0, abs=1e-6)
    assert cosines.argmax() == 2
    assert damaged_files(bge) == ()


def test_a_question_is_encoded_with_its_prompt_and_a_passage_without(bge: Path) -> None:
    encoder, prompt = OnnxEncoder(bge), load_encoder_manifest(bge).query_prompt

    as_question, as_passage = encoder.encode_query(QUESTION), encoder.encode_documents([QUESTION])[0]

    assert float(as_question @ as_passage) < 0.95
    assert np.array_equal(as_question, encoder.encode_documents([prompt + QUESTION])[0])


def test_side_by_side_texts_get_the_vectors_they_get_alone(bge: Path) -> None:
    """Activations are quantised by the batch, so that a text in one would depend on its neighbours."""
    texts = [ANSWER, *OTHERS, *(f"{ANSWER} {number}" for number in range(9))]

    alone, many = OnnxEncoder(bge), OnnxEncoder(bge, threads=1, workers=2)

    together = many.encode_documents(texts)
    assert (together * alone.encode_documents(texts)).sum(axis=1).min() > 0.99999
    assert np.array_equal(together[3:], many.encode_documents(texts[3:]))


def test_what_unrelated_texts_have_is_written_down_where_it_is_much(bge: Path) -> None:
    assert 0.5 < load_encoder_manifest(bge).unrelated < 0.6
    assert "unrelated" in json.loads((bge / "encoder.json").read_text())


def test_token_vectors_come_from_the_graph_where_they_are_asked_for(words: ModelSpec, tmp_path: Path) -> None:
    spec = replace(words, pooling=Pooling.MEAN, token_vectors=True)
    export_onnx(spec, tmp_path / "with")
    export_onnx(replace(spec, token_vectors=False), tmp_path / "without")
    encoder = OnnxEncoder(tmp_path / "with")

    tokens = encoder.encode_query_tokens(QUESTION)

    (ids,) = TokenCounter(words.path / "tokenizer.json").encode([QUESTION], 512)
    expected = _table()[ids]
    assert np.allclose(tokens, expected / np.linalg.norm(expected, axis=1, keepdims=True), atol=1e-6)
    with pytest.raises(ConfigError, match="gives no token vectors"):
        OnnxEncoder(tmp_path / "without").encode_query_tokens(QUESTION)
