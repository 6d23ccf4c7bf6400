"""A model in blocks of 4 bits becomes a folder that is read like any other."""

import json
import struct
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from safetensors.numpy import load_file

from indexes.embed.bert_graph import read_bert
from indexes.embed.export import export_onnx
from indexes.embed.manifest import load_encoder_manifest
from indexes.embed.named_models import MULTILINGUAL, NAMED_MODELS
from indexes.embed.packed_model import unpack, unpack_once
from indexes.embed.reader_encoder import OnnxEncoder
from indexes.embed.tokens import TokenCounter
from indexes.embed.weights import ModelSpec, load_model_spec
from schemas.errors import ConfigError
from schemas.settings import Settings
from tests.fakes.exported_encoder import encoder_cache

WIDTH, INNER, WORDS, PLACES = 32, 64, 9, 16
PIECES = [("<s>", 0.0), ("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0)]
PIECES += [("\u2581bell", -2.0), ("\u2581", -3.0), ("b", -4.0), ("ell", -5.0), ("<mask>", 0.0)]
MATRICES = {"l0.q.w": WIDTH, "l0.k.w": WIDTH, "l0.v.w": WIDTH, "l0.ao.w": WIDTH, "l0.fi.w": WIDTH}
VECTORS = ("emb.ln.w", "emb.ln.b", *(f"l0.{one}.b" for one in ("q", "k", "v", "ao", "fo")))
NORMS = ("l0.aln.w", "l0.aln.b", "l0.oln.w", "l0.oln.b")


def _blocks(rows: int, width: int) -> tuple[bytes, npt.NDArray[np.float32]]:
    """Weights as the package writes them, and as they are meant."""
    chance = np.random.default_rng(rows + width)
    steps = chance.integers(0, 16, (rows * width // 32, 32)).astype(np.uint8)
    scales = chance.uniform(0.01, 0.1, len(steps)).astype("<f2")
    pairs = steps[:, :16] | (steps[:, 16:] << 4)
    packed = b"".join(scale.tobytes() + row.tobytes() for scale, row in zip(scales, pairs, strict=True))
    return packed, ((steps.astype(np.float32) - 8) * scales.astype(np.float32)[:, None]).reshape(rows, width)


def _tensors() -> Iterator[tuple[str, bytes, npt.NDArray[np.float32], bool]]:
    def plain(name: str, *shape: int) -> tuple[str, bytes, npt.NDArray[np.float32], bool]:
        numbers = np.random.default_rng(len(name)).normal(size=shape).astype("<f4")
        return name, numbers.tobytes(), numbers, False

    yield "emb.word", *_blocks(WORDS, WIDTH), True
    yield plain("emb.pos", PLACES, WIDTH)
    yield plain("emb.type", 2, WIDTH)
    yield from (plain(name, WIDTH) for name in (*VECTORS, *NORMS))
    yield plain("l0.fi.b", INNER)
    for name in MATRICES:
        yield name, *_blocks(INNER if name == "l0.fi.w" else WIDTH, WIDTH), True
    yield "l0.fo.w", *_blocks(WIDTH, INNER), True


def _write_packed(path: Path) -> None:
    text = "".join(piece for piece, _ in PIECES).encode()
    ends = np.cumsum([0, *(len(piece.encode()) for piece, _ in PIECES)]).astype("<u4")
    head = struct.pack("<4sI7ifi", b"E5S1", 1, WIDTH, 1, 2, INNER, WORDS, PLACES, 2, 1e-12, 32)
    head += struct.pack("<5iQ", len(PIECES), 0, 2, 1, 3, len(text)) + ends.tobytes()
    head += np.array([score for _, score in PIECES], "<f4").tobytes() + text
    head += struct.pack("<iI", 1, 9) + struct.pack("<IBI", 0x2003, 1, 0x20)
    tensors = list(_tensors())
    start = len(head) + 4 + sum(23 + len(name) for name, *_ in tensors)
    listed, body = struct.pack("<i", len(tensors)), b""
    for name, stored, numbers, packed in tensors:
        listed += struct.pack("<H", len(name)) + name.encode()
        listed += struct.pack("<BIQQ", packed, numbers.size, start + len(body), len(stored))
        body += stored
    path.write_bytes(head + listed + body)


@pytest.fixture
def packed(tmp_path: Path) -> Path:
    """A model of one layer."""
    _write_packed(tmp_path / "tiny.bin")
    return tmp_path / "tiny.bin"


def test_weights_are_what_their_blocks_mean(packed: Path, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    folder.mkdir()

    unpack(packed, folder)

    found = load_file(folder / "model.safetensors")
    meant = {name: numbers for name, _, numbers, _ in _tensors()}
    assert len(found) == len(meant)
    assert np.array_equal(found["embeddings.word_embeddings.weight"], meant["emb.word"])
    assert np.array_equal(found["encoder.layer.0.output.dense.weight"], meant["l0.fo.w"])
    assert np.array_equal(found["encoder.layer.0.intermediate.dense.bias"], meant["l0.fi.b"])
    assert np.array_equal(found["embeddings.LayerNorm.weight"], meant["emb.ln.w"])


def test_the_folder_is_a_model_that_is_exported_without_torch(packed: Path, tmp_path: Path) -> None:
    unpack_once(packed, tmp_path / "model")
    spec = load_model_spec(str(tmp_path / "model"))

    assert read_bert(spec.path) is not None
    assert (spec.dim, spec.max_tokens) == (WIDTH, PLACES)
    assert (spec.query_prompt, spec.document_prompt) == ("query: ", "passage: ")
    export_onnx(spec, tmp_path / "encoder")
    assert OnnxEncoder(tmp_path / "encoder").encode_documents(["bell"]).shape == (1, WIDTH)


def test_pieces_of_words_stand_between_begin_and_end(packed: Path, tmp_path: Path) -> None:
    unpack_once(packed, tmp_path / "model")
    tokens = TokenCounter(tmp_path / "model" / "tokenizer.json")

    assert tokens.encode(["bell bell", "bbell", "ｂell\u3000bell", "x"], 16) == [
        [0, 4, 4, 2],
        [0, 5, 6, 6, 7, 2],
        [0, 4, 4, 2],
        [0, 5, 3, 2],
    ]


def test_a_folder_that_is_there_is_left_alone(packed: Path, tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()

    unpack_once(packed, tmp_path / "model")

    assert list((tmp_path / "model").iterdir()) == []


def test_another_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "other.bin").write_bytes(bytes(100))

    with pytest.raises(ValueError, match="no model in blocks"):
        unpack_once(tmp_path / "other.bin", tmp_path / "model")
    assert not (tmp_path / "model").exists()


@pytest.fixture(scope="module")
def multilingual() -> ModelSpec:
    """The named model, where its package is installed."""
    try:
        return load_model_spec(MULTILINGUAL, Settings(cache=str(encoder_cache())))
    except ConfigError as missing:
        pytest.skip(missing.message)


def test_the_named_model_is_unpacked_as_it_always_is(multilingual: ModelSpec) -> None:
    assert (multilingual.dim, multilingual.max_tokens, multilingual.graph) == (384, 512, "")
    assert (multilingual.query_prompt, multilingual.document_prompt) == ("query: ", "passage: ")
    assert multilingual.sha256 == NAMED_MODELS[MULTILINGUAL].unpacked["model.safetensors"]
    assert json.loads((multilingual.path / "config.json").read_text())["vocab_size"] == 250_037


def test_it_finds_an_answer_in_another_language(multilingual: ModelSpec, tmp_path: Path) -> None:
    export_onnx(multilingual, tmp_path / "encoder", cache=encoder_cache())
    encoder = OnnxEncoder(tmp_path / "encoder")
    passages = ("Der Urlaub beträgt dreißig Tage.", "門番は毎週月曜日に庭を掃きます。", "La clé est au port.")

    asked = ("How many days of leave are there?", "When is the yard swept?", "Where is the key?")

    found = encoder.encode_documents(passages) @ np.stack([encoder.encode_query(one) for one in asked]).T
    assert found.argmax(axis=0).tolist() == [0, 1, 2]
    assert 0.75 < load_encoder_manifest(tmp_path / "encoder").unrelated < 0.9
