"""What the exported encoder of an index is: `encoder.json`, beside the files it describes."""

import json
from dataclasses import dataclass, field, replace
from pathlib import Path

from indexes.layout import remedy
from schemas.errors import DamageFound, SchemaMismatch
from schemas.ids import LATER, record_sha256
from schemas.records import from_record, to_record

GRAPH_FILE = "encoder.onnx"
WEIGHTS_FILE = "encoder.onnx.data"
TOKENIZER_FILE = "tokenizer.json"
MANIFEST_FILE = "encoder.json"
FORMAT = 2
"""2: with the cosine of unrelated texts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EncoderManifest:
    """The exported model: what it was made from, what it gives, and the sha256 of each file.

    `onnxruntime` is the version that optimised the graph. `model_key` is weights.encoder_key. `checksum` is
    over all the rest; earlier versions wrote none. `unrelated` is the cosine of texts that have nothing to do
    with each other, `joins_languages` whether a question is near to its answer in another language, None in
    what earlier versions exported (unrelated.py).
    """

    format: int
    model: str
    model_sha256: str
    model_key: str
    dim: int
    max_tokens: int
    query_prompt: str
    document_prompt: str
    onnxruntime: str
    graph_sha256: str
    weights_sha256: str
    tokenizer_sha256: str
    checksum: str = ""
    unrelated: float = 0.0
    joins_languages: bool | None = field(default=None, metadata=LATER)

    def hashes(self) -> dict[str, str]:
        """The sha256 of each file, by its name."""
        return {
            GRAPH_FILE: self.graph_sha256,
            WEIGHTS_FILE: self.weights_sha256,
            TOKENIZER_FILE: self.tokenizer_sha256,
        }


def dump_encoder_manifest(manifest: EncoderManifest, directory: Path) -> None:
    """Write `encoder.json`."""
    whole = replace(manifest, checksum=_checksum(manifest))
    (directory / MANIFEST_FILE).write_text(json.dumps(to_record(whole), indent=2) + "\n")


def _checksum(manifest: EncoderManifest) -> str:
    return record_sha256(to_record(replace(manifest, checksum="")))


def load_encoder_manifest(directory: Path) -> EncoderManifest:
    """Read `encoder.json`.

    Raises: SchemaMismatch: another format; DamageFound: there is none, or it is not what was written.
    """
    path = directory / MANIFEST_FILE
    try:
        record = json.loads(path.read_bytes())
        found = record["format"]
    except FileNotFoundError as error:
        raise damaged(path, "is missing") from error
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise damaged(path, f"cannot be read: {error!r}") from error
    if found != FORMAT:
        raise SchemaMismatch(
            f"is of format {found}, this version reads {FORMAT}; {remedy(directory.parent)}",
            subject=str(path),
        )
    try:
        manifest = from_record(EncoderManifest, record)
        sound = manifest.checksum in ("", _checksum(manifest))
    except (KeyError, TypeError, ValueError) as error:
        raise damaged(path, f"cannot be read: {error!r}") from error
    if not sound:
        raise damaged(path, "is damaged: it no longer matches its checksum")
    return manifest


def damaged(path: Path, what: str) -> DamageFound:
    """Say that a file of an exported encoder is no good, and what to do."""
    return DamageFound(f"{what}; {remedy(path.parent.parent)}", subject=str(path))
