"""The reader's encoder: light, quick to load, and loud about damage."""

import os
import shutil
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest

from indexes.embed import reader_encoder
from indexes.embed.manifest import TOKENIZER_FILE
from indexes.embed.onnx_session import run_session
from indexes.embed.reader_encoder import OnnxEncoder
from schemas.cost import Cause
from schemas.errors import DamageFound
from tests.fakes.encoder_files import write_encoder_files
from tests.fakes.exported_encoder import place_exported_encoder

REPO = Path(__file__).resolve().parents[4]


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The default model's export; read only."""
    return place_exported_encoder(tmp_path_factory.mktemp("index") / "encoder")


def test_encoding_a_query_imports_neither_torch_nor_transformers(exported: Path) -> None:
    script = """
import sys
from pathlib import Path
from indexes.embed.reader_encoder import OnnxEncoder
encoder = OnnxEncoder(Path(sys.argv[1]))
opened = {"onnxruntime", "tokenizers"} & sys.modules.keys()
vector = encoder.encode_query("a question")
heavy = {"torch", "transformers", "sentence_transformers", "sqlalchemy", "lancedb"} & sys.modules.keys()
print(vector.shape, sorted(opened), sorted(heavy))
"""
    ran = subprocess.run(
        [sys.executable, "-c", script, str(exported)], cwd=REPO, capture_output=True, text=True, check=True
    )

    assert ran.stdout.strip() == "(384,) [] []"
    assert ran.stderr == ""


def test_a_question_is_encoded_once(exported: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    session = Mock(side_effect=run_session)
    monkeypatch.setattr(reader_encoder, "run_session", session)
    encoder = OnnxEncoder(exported)
    asked = [encoder.encode_query(text) for text in ("a lamp", "a lamp", "a lantern")]
    assert session.call_count == 2
    assert np.array_equal(asked[0], asked[1])


def test_a_vector_does_not_depend_on_its_neighbours(exported: Path) -> None:
    encoder = OnnxEncoder(exported)
    texts = ["short", "a somewhat longer text about vacuum", "word " * 300]

    together = encoder.encode_documents(texts)

    for text, vector in zip(texts, together, strict=True):
        assert np.array_equal(encoder.encode_documents([text])[0], vector)


class Causes:
    """Listens to what threads say that they work for."""

    def __init__(self) -> None:
        self.told: list[tuple[Cause, int]] = []

    def block(self, cause: Cause) -> AbstractContextManager[None]:
        self.told.append((cause, threading.get_ident()))
        return nullcontext()


def test_what_many_texts_cost_is_charged_to_encoding(exported: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    causes = Causes()
    monkeypatch.setattr("schemas.cost._LISTENERS", [causes])

    OnnxEncoder(exported, threads=1, workers=2).encode_documents(["backup", "restore", "archive"])

    assert [cause for cause, _ in causes.told] == [Cause.EMBED] * 3
    assert threading.get_ident() not in {thread for _, thread in causes.told}


def test_threads_share_one_encoder_while_it_loads(exported: Path) -> None:
    encoder = OnnxEncoder(exported)
    encoder.load_in_background()
    with ThreadPoolExecutor(4) as threads:
        vectors = list(threads.map(encoder.encode_query, ["same question"] * 8))

    assert all(np.array_equal(vector, vectors[0]) for vector in vectors)


def test_loading_in_the_background_leaves_nothing_to_load(exported: Path) -> None:
    encoder = OnnxEncoder(exported)
    encoder.load_in_background()
    for thread in threading.enumerate():
        if thread.name == "encoder-load":
            thread.join()

    session = encoder._session
    encoder.encode_query("a question")

    assert session is not None
    assert encoder._session is session


@pytest.mark.parametrize("name", ["encoder.onnx", "encoder.onnx.data", "tokenizer.json"])
def test_a_missing_file_says_what_to_do(exported: Path, tmp_path: Path, name: str) -> None:
    directory = Path(shutil.copytree(exported, tmp_path / "encoder"))
    (directory / name).unlink()
    encoder = OnnxEncoder(directory)
    encoder.load_in_background()

    with pytest.raises(DamageFound, match="encoder"):
        encoder.encode_query("a question")


def test_a_cut_weights_file_is_damage(exported: Path, tmp_path: Path) -> None:
    directory = Path(shutil.copytree(exported, tmp_path / "encoder"))
    with (directory / "encoder.onnx.data").open("r+b") as file:
        file.truncate(1_000_000)

    with pytest.raises(DamageFound, match="repair it with: sitegraph repair"):
        OnnxEncoder(directory).encode_query("a question")


def test_a_folder_reached_by_a_link_loads(exported: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(exported, target_is_directory=True)

    assert OnnxEncoder(tmp_path / "link").encode_query("a question").shape == (384,)


def test_no_encoder_is_damage_that_can_be_repaired(tmp_path: Path) -> None:
    with pytest.raises(DamageFound, match="sitegraph repair"):
        OnnxEncoder(tmp_path)


@pytest.mark.parametrize("name", ["encoder.onnx", "encoder.onnx.data", "tokenizer.json"])
def test_one_bit_that_flips_anywhere_in_the_model_is_damage_and_no_other_vector(
    exported: Path, tmp_path: Path, name: str
) -> None:
    folder = Path(shutil.copytree(exported, tmp_path / "index" / "encoder"))
    with (folder / name).open("r+b") as file:
        file.seek(file.seek(0, 2) // 2)
        byte = file.read(1)[0]
        file.seek(-1, 1)
        file.write(bytes([byte ^ 0x04]))

    encoder = OnnxEncoder(folder)
    encoder.load_in_background()
    with pytest.raises(DamageFound, match=rf"{name}: is damaged.*sitegraph repair --index"):
        encoder.encode_query("a question")


def test_a_reader_that_found_damage_goes_on_once_the_encoder_was_exported_again(tmp_path: Path) -> None:
    """By another version of the exporter, whose files differ: a service need not be started again."""
    folder = write_encoder_files(tmp_path / "encoder")
    (folder / TOKENIZER_FILE).write_text("rotten")
    encoder = OnnxEncoder(folder)
    with pytest.raises(DamageFound, match="no longer matches its hash"):
        encoder.count_tokens("one two")

    write_encoder_files(folder, pretty=True)

    assert encoder.count_tokens("one two") == 2


def test_a_file_that_was_put_back_with_its_old_time_is_read_again(tmp_path: Path) -> None:
    folder = write_encoder_files(tmp_path / "encoder")
    file = folder / TOKENIZER_FILE
    whole, status = file.read_bytes(), file.stat()
    encoder = OnnxEncoder(folder)
    for content in (whole[::-1], whole):
        file.write_bytes(content)
        os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
        if content != whole:
            with pytest.raises(DamageFound, match="no longer matches its hash"):
                encoder.count_tokens("one two")

    assert encoder.count_tokens("one two") == 2
