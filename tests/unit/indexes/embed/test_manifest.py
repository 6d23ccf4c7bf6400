"""`encoder.json`: what was written is read, and nothing else is."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from indexes.embed.manifest import FORMAT, EncoderManifest, dump_encoder_manifest, load_encoder_manifest
from schemas.errors import DamageFound, SchemaMismatch

MANIFEST = EncoderManifest(
    format=FORMAT,
    model="a/model",
    model_sha256="a" * 64,
    model_key="b" * 64,
    dim=384,
    max_tokens=256,
    query_prompt="query: ",
    document_prompt="Passage – ",
    onnxruntime="1.31.1",
    graph_sha256="c" * 64,
    weights_sha256="d" * 64,
    tokenizer_sha256="e" * 64,
)


def test_what_was_written_is_read(tmp_path: Path) -> None:
    dump_encoder_manifest(MANIFEST, tmp_path)

    assert replace(load_encoder_manifest(tmp_path), checksum="") == MANIFEST


def test_a_folder_without_encoder_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(DamageFound, match="sitegraph repair"):
        load_encoder_manifest(tmp_path)


def test_another_format_is_not_guessed_at(tmp_path: Path) -> None:
    (tmp_path / "encoder.json").write_text(json.dumps({"format": FORMAT + 1, "model": "m"}))

    with pytest.raises(SchemaMismatch, match=f"format {FORMAT + 1}"):
        load_encoder_manifest(tmp_path)


@pytest.mark.parametrize(
    "content",
    ["", "{", "[]", "3", "{}", json.dumps({"format": FORMAT}), json.dumps({"format": FORMAT, "colour": 1})],
)
def test_a_damaged_file_says_what_to_do(tmp_path: Path, content: str) -> None:
    (tmp_path / "encoder.json").write_text(content)

    with pytest.raises(DamageFound, match=r"encoder\.json.*sitegraph repair --index"):
        load_encoder_manifest(tmp_path)


def test_one_letter_that_rots_is_damage(tmp_path: Path) -> None:
    """The prompt goes before every question: without the checksum it would only find something else."""
    dump_encoder_manifest(MANIFEST, tmp_path)
    path = tmp_path / "encoder.json"
    path.write_text(path.read_text().replace("query: ", "puery: "))

    with pytest.raises(DamageFound, match=r"encoder\.json: is damaged.*sitegraph repair --index"):
        load_encoder_manifest(tmp_path)
