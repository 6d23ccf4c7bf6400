"""An exported encoder that is whole and encodes nothing: its tokenizer is real, its weights are none."""

from pathlib import Path

from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

from indexes.embed.manifest import (
    FORMAT,
    GRAPH_FILE,
    TOKENIZER_FILE,
    WEIGHTS_FILE,
    EncoderManifest,
    dump_encoder_manifest,
)
from indexes.embed.weights import file_sha256


def write_encoder_files(folder: Path, *, pretty: bool = False) -> Path:
    """Write the files and their hashes; a *pretty* tokenizer is the same one in other bytes."""
    folder.mkdir(parents=True, exist_ok=True)
    words = Tokenizer(WordLevel({"[UNK]": 0}, unk_token="[UNK]"))
    words.pre_tokenizer = Whitespace()
    words.save(str(folder / TOKENIZER_FILE), pretty=pretty)
    for name in (GRAPH_FILE, WEIGHTS_FILE):
        (folder / name).write_bytes(name.encode())
    manifest = EncoderManifest(
        format=FORMAT,
        model="tiny",
        model_sha256="0" * 64,
        model_key="key",
        dim=8,
        max_tokens=16,
        query_prompt="",
        document_prompt="",
        onnxruntime="1",
        graph_sha256=file_sha256(folder / GRAPH_FILE),
        weights_sha256=file_sha256(folder / WEIGHTS_FILE),
        tokenizer_sha256=file_sha256(folder / TOKENIZER_FILE),
    )
    dump_encoder_manifest(manifest, folder)
    return folder
