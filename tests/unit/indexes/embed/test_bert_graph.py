"""Which models are written without torch, and that each gives what sentence-transformers gives."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from indexes.embed.bert_graph import read_bert
from indexes.embed.encoder import load_sentence_transformer
from indexes.embed.export import export_onnx
from indexes.embed.named_models import Pooling
from indexes.embed.reader_encoder import OnnxEncoder
from indexes.embed.routes import EXPORT_TEXTS
from indexes.embed.weights import load_model_spec
from schemas.errors import ConfigError
from tests.fakes.tiny_model import write_tiny_model

OTHERS = [
    pytest.param("config.json", {"hidden_act": "relu"}, id="another activation"),
    pytest.param("config.json", {"model_type": "xlm-roberta"}, id="another type"),
    pytest.param("config.json", {"num_hidden_layers": 2}, id="weights missing"),
    pytest.param("config.json", {"is_decoder": True}, id="a decoder"),
    pytest.param("sentence_bert_config.json", {"do_lower_case": True}, id="another text"),
    pytest.param("1_Pooling/config.json", {"pooling_mode": "max"}, id="another pooling"),
    pytest.param("1_Pooling/config.json", {"pooling_mode_cls_token": True}, id="two poolings, as flags"),
    pytest.param("1_Pooling/config.json", {"include_prompt": False}, id="pooling without the prompt"),
]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of one layer; read only."""
    return write_tiny_model(tmp_path_factory.mktemp("tiny") / "model")


@pytest.fixture
def model(tiny: Path, tmp_path: Path) -> Path:
    """A copy to change."""
    return Path(shutil.copytree(tiny, tmp_path / "model"))


def _change(file: Path, **keys: Any) -> None:
    file.write_text(json.dumps({**json.loads(file.read_text()), **keys}))


@pytest.mark.parametrize(("file", "keys"), OTHERS)
def test_a_model_of_another_type_is_left_to_torch(model: Path, file: str, keys: dict[str, Any]) -> None:
    assert read_bert(model) is not None
    _change(model / file, **keys)

    assert read_bert(model) is None


def test_a_model_that_does_more_than_pool_is_left_to_torch(model: Path) -> None:
    modules = json.loads((model / "modules.json").read_text())
    dense = {"idx": 2, "name": "2", "path": "2_Dense", "type": "sentence_transformers.models.Dense"}
    (model / "modules.json").write_text(json.dumps([*modules[:2], dense]))

    assert read_bert(model) is None


@pytest.mark.parametrize("token_vectors", [False, True])
@pytest.mark.parametrize("pooling", Pooling)
def test_each_way_to_pool_gives_what_torch_gives(
    model: Path, tmp_path: Path, pooling: Pooling, token_vectors: bool
) -> None:
    if pooling is Pooling.CLS:
        _change(
            model / "1_Pooling" / "config.json", pooling_mode_mean_tokens=False, pooling_mode_cls_token=True
        )
    spec = replace(load_model_spec(str(model)), token_vectors=token_vectors)

    export_onnx(spec, tmp_path / "encoder")

    written, torch = OnnxEncoder(tmp_path / "encoder"), load_sentence_transformer(spec)
    expected = torch.encode(list(EXPORT_TEXTS), normalize_embeddings=True)
    assert np.abs(written.encode_documents(EXPORT_TEXTS) - expected).max() < 1e-6
    if token_vectors:
        tokens = torch.encode(EXPORT_TEXTS[0], output_value="token_embeddings").numpy()
        unit = tokens / np.linalg.norm(tokens, axis=1, keepdims=True)
        assert np.abs(written.encode_query_tokens(EXPORT_TEXTS[0]) - unit).max() < 1e-5


def test_a_model_that_torch_must_export_still_has_its_encoder(model: Path, tmp_path: Path) -> None:
    _change(model / "config.json", hidden_act="relu")
    spec = load_model_spec(str(model))

    export_onnx(spec, tmp_path / "encoder")

    expected = load_sentence_transformer(spec).encode(list(EXPORT_TEXTS), normalize_embeddings=True)
    found = OnnxEncoder(tmp_path / "encoder").encode_documents(EXPORT_TEXTS)
    assert np.abs(found - expected).max() < 1e-5


def _cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-100])


DAMAGED = [
    (
        "model.safetensors",
        lambda file: file.write_text("version https://git-lfs.github.com/spec/v1\nsize 9\n"),
    ),
    ("model.safetensors", lambda file: file.write_bytes(bytes(5))),
    ("model.safetensors", lambda file: file.write_bytes(b"")),
    ("model.safetensors", _cut),
    ("config.json", lambda file: file.write_text("[1]")),
    ("config.json", lambda file: _change(file, num_hidden_layers=None)),
    ("config.json", lambda file: _change(file, num_attention_heads=7)),
    ("modules.json", lambda file: file.write_text('{"a": 1}')),
    ("modules.json", lambda file: file.write_text("{")),
]


@pytest.mark.parametrize(("file", "damage"), DAMAGED)
def test_damaged_files_of_a_model_are_one_line_for_whoever_named_it(
    model: Path, tmp_path: Path, file: str, damage: Callable[[Path], object]
) -> None:
    damage(model / file)
    with pytest.raises(ConfigError, match="damaged or incomplete"):
        export_onnx(load_model_spec(str(model)), tmp_path / "encoder")
    assert not (tmp_path / "encoder").exists()
