"""What the exported encoder of an index is: `encoder.json`, beside the files it describes."""

import json
from dataclasses import dataclass
from pathlib import Path

from schemas.errors import ConfigError, DamageFound, SchemaMismatch
from schemas.records import from_record, to_record

GRAPH_FILE = "encoder.onnx"
WEIGHTS_FILE = "encoder.onnx.data"
TOKENIZER_FILE = "tokenizer.json"
MANIFEST_FILE = "encoder.json"
FORMAT = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class EncoderManifest:
    """The exported model: what it was made from, what it gives, and the sha256 of each file.

    `onnxruntime` is the version that optimised the graph. `model_key` is weights.encoder_key.
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


def dump_manifest(manifest: EncoderManifest, directory: Path) -> None:
    """Write `encoder.json`."""
    (directory / MANIFEST_FILE).write_text(json.dumps(to_record(manifest), indent=2) + "\n")


def load_manifest(directory: Path) -> EncoderManifest:
    """Read `encoder.json`.

    Raises: ConfigError: there is none; SchemaMismatch: another format; DamageFound: not readable.
    """
    path = directory / MANIFEST_FILE
    try:
        record = json.loads(path.read_text())
        found = record["format"]
    except FileNotFoundError as error:
        raise ConfigError(
            "holds no exported encoder; make one with: sitegraph run SOURCE.yaml", subject=str(directory)
        ) from error
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise _unreadable(path, error) from error
    if found != FORMAT:
        raise SchemaMismatch(f"is of format {found}, this version reads {FORMAT}", subject=str(path))
    try:
        return from_record(EncoderManifest, record)
    except (KeyError, TypeError) as error:
        raise _unreadable(path, error) from error


def _unreadable(path: Path, error: Exception) -> DamageFound:
    return DamageFound(
        f"cannot be read: {error!r}; delete the folder and run again to export it anew", subject=str(path)
    )
