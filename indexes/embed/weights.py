"""Find a model on this machine and say what it is, before anything of it is loaded."""

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from indexes.embed.named_models import DEFAULT_MODEL, NAMED_MODELS, Pooling, known_names, locate_model
from indexes.embed.packed_model import unpack_once
from indexes.embed.routes import Dtype
from indexes.places import cache_folder
from schemas.errors import ConfigError
from schemas.ids import record_sha256, sha256_hex
from schemas.settings import CacheSettings, install_line

_NEEDED_FILES = ("model.safetensors", "tokenizer.json", "config.json")
_DOCUMENT_PROMPTS = ("document", "passage", "corpus")
"""Names that a prompt for documents may have, the first one first.

Source: sentence-transformers, `SentenceTransformer.encode_document`.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSpec:
    """A sentence-transformers model in a folder of this machine.

    `sha256` is the hash of its weights; `max_tokens` counts the special tokens too; prompts are put before
    the text as they are. `dtype` is the arithmetic that documents are encoded in. `graph` is the file of a
    model that is only there as ONNX, whose token vectors are pooled by `pooling`. `token_vectors`: chunks
    keep theirs, for late interaction.
    """

    name: str
    path: Path
    sha256: str
    dim: int
    max_tokens: int
    query_prompt: str = ""
    document_prompt: str = ""
    dtype: Dtype = Dtype.AUTO
    graph: str = ""
    pooling: Pooling | None = None
    token_vectors: bool = False
    many_languages: bool = False

    def in_dtype(self, dtype: str | None) -> "ModelSpec":
        """Return the model with another arithmetic; None leaves the usual one.

        Raises: ConfigError: the model has been quantised, and has no other.
        """
        asked = Dtype(dtype or Dtype.AUTO)
        if self.graph and asked is not Dtype.AUTO:
            raise ConfigError(
                f"cannot be {asked}: its weights are int8; leave SITEGRAPH_DTYPE unset", subject=self.name
            )
        return replace(self, dtype=asked)


def load_model_spec(model: str = DEFAULT_MODEL, settings: CacheSettings | None = None) -> ModelSpec:
    """Find *model* (a known name, a folder, or a name in the local Hugging Face cache) and describe it.

    Reads the files' hashes and JSON only; nothing is downloaded, no torch is imported. What is packed is
    unpacked into the user's cache, or that of *settings*, once.

    Raises: ConfigError: not found, files missing, or a file of a known model is not the expected one.
    """
    if model in NAMED_MODELS:
        path = locate_model(model)
        if NAMED_MODELS[model].packed:
            path = _unpacked(model, path, cache_folder(settings or CacheSettings(), "models"))
        else:
            check_files(path, NAMED_MODELS[model].sha256)
        return _describe_named(model, path)
    path = _locate(model)
    for name in _NEEDED_FILES:
        if not (path / name).is_file():
            raise ConfigError(
                f"no {name} in this folder; a model needs {', '.join(_NEEDED_FILES)}", subject=str(path)
            )
    with sound_files(path):
        return _describe(model, path)


@contextmanager
def sound_files(model: Path) -> Iterator[None]:
    """Say of a model's folder that its files are cut, pointers of Git LFS, or not what their names say.

    Raises: ConfigError: what is read of them in the block is not there, or of another kind.
    """
    try:
        yield
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise ConfigError(
            f"its files are damaged or incomplete ({type(error).__name__}: {error}); fetch the model again "
            "(git lfs pull, if it was cloned)",
            subject=str(model),
        ) from error


def _unpacked(name: str, package: Path, cache: Path) -> Path:
    """Return the folder of a model that its *package* has packed."""
    known = NAMED_MODELS[name]
    # Another version of what unpacks it makes other files, so it makes another folder.
    folder = cache / f"{name}-{record_sha256(dict(known.unpacked))[:12]}"
    if not folder.is_dir():
        check_files(package, known.sha256)
        unpack_once(package / known.packed, folder)
    check_files(folder, known.unpacked, remedy="delete this folder, and it is made again")
    return folder


def _describe(name: str, path: Path) -> ModelSpec:
    """Describe a folder by what its own files say."""
    prompts = read_json(path / "config_sentence_transformers.json").get("prompts") or {}
    return ModelSpec(
        name=name,
        path=path,
        sha256=file_sha256_once(path / "model.safetensors"),
        dim=_dimension(path),
        max_tokens=_max_tokens(path),
        query_prompt=prompts.get("query", ""),
        document_prompt=next((prompts[key] for key in _DOCUMENT_PROMPTS if key in prompts), ""),
        many_languages=_vocabulary(path) >= MANY_LANGUAGES,
    )


def _describe_named(name: str, path: Path) -> ModelSpec:
    known = NAMED_MODELS[name]
    if not known.graph:
        return _describe(name, path)
    return ModelSpec(
        name=name,
        path=path,
        sha256=known.sha256[known.graph],
        dim=_dimension(path),
        max_tokens=known.max_tokens,
        query_prompt=known.query_prompt,
        document_prompt=known.document_prompt,
        graph=known.graph,
        pooling=known.pooling,
    )


def model_key(spec: ModelSpec) -> str:
    """Name everything that decides a document's vector, for cache keys.

    Of `auto` the route is left out: it is bf16 only where that agrees with fp32 to a cosine of .9999, and a
    bulk run and a small one share vectors.
    """
    return _key(spec, spec.dtype)


def token_dim(spec: ModelSpec) -> int:
    """Return the length of a token vector where chunks keep theirs, else 0."""
    return spec.dim if spec.token_vectors else 0


def encoder_key(spec: ModelSpec) -> str:
    """Name what decides the exported encoder, which is fp32 whatever documents are, and what it gives."""
    return _key(spec, "float32-tokens" if spec.token_vectors else "float32")


def _key(spec: ModelSpec, dtype: str) -> str:
    pooled = (spec.pooling,) if spec.pooling else ()
    return sha256_hex("\0".join((spec.sha256, dtype, str(spec.max_tokens), spec.document_prompt, *pooled)))


def check_files(
    folder: Path, expected: Mapping[str, str], *, remedy: str = "reinstall the model package"
) -> None:
    """Compare files with their sha256.

    Raises: ConfigError: names the file, what was expected and what was found.
    """
    for name, wanted in expected.items():
        found = file_sha256_once(folder / name)
        if found != wanted:
            raise ConfigError(
                f"sha256 is {found}, expected {wanted}; {remedy}",
                subject=str(folder / name),
            )


def file_sha256(path: Path) -> str:
    """Hash a file without reading it into memory at once."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def file_sha256_once(path: Path) -> str:
    """Hash a file once a process, however many indexes link it, until it is written again.

    A run asks for its encoder several times, and 90 MB take .25 s where the chip has no instruction for it.
    For files on a disk: objects of a bucket have no number that tells them apart.
    """
    with path.open("rb") as file:
        held = os.fstat(file.fileno())  # of the file that is read, whatever takes its place meanwhile
        known_by = (held.st_dev, held.st_ino, held.st_size, held.st_mtime_ns)
        if known_by not in _HASHES:
            _HASHES[known_by] = hashlib.file_digest(file, "sha256").hexdigest()
    return _HASHES[known_by]


_HASHES: dict[tuple[int, ...], str] = {}
"""By device, number, size and time of a file: as long as they are the same it is taken for unchanged."""


def _locate(model: str) -> Path:
    folder = Path(model).expanduser()
    return folder.resolve() if folder.is_dir() else _cached_path(model)


def _cached_path(model: str) -> Path:
    try:
        from huggingface_hub import snapshot_download
        from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError
    except ImportError as error:
        raise ConfigError(
            f"is neither one of the models {known_names()} nor a folder; other names need huggingface_hub; "
            f"run: {install_line('pipeline')}",
            subject=model,
        ) from error
    try:
        return Path(snapshot_download(model, local_files_only=True))
    except (HfHubHTTPError, HFValidationError, LocalEntryNotFoundError) as error:
        raise ConfigError(
            f"is not one of the models {known_names()}, not a folder, and not in the local Hugging Face "
            "cache; fetch it with: hf download MODEL",
            subject=model,
        ) from error


def _dimension(path: Path) -> int:
    """Take the width of the last Dense module, else the transformer's own."""
    modules = json.loads((path / "modules.json").read_text()) if (path / "modules.json").is_file() else []
    dense = [module["path"] for module in modules if module["type"].endswith(".Dense")]
    if dense:
        return int(read_json(path / dense[-1] / "config.json")["out_features"])
    return int(read_json(path / "config.json")["hidden_size"])


MANY_LANGUAGES = 100_000
"""Entries of a vocabulary that is of many languages. Those of encoders of English have 30,000 to 50,000,
multilingual ones 120,000 (BERT) to 500,000 (LaBSE)."""


def _vocabulary(path: Path) -> int:
    return int(read_json(path / "config.json").get("vocab_size") or 0)


def _max_tokens(path: Path) -> int:
    stated = read_json(path / "sentence_bert_config.json").get("max_seq_length")
    return int(stated or read_json(path / "config.json")["max_position_embeddings"])


def read_json(path: Path) -> dict[str, Any]:
    """Return the object in *path*, or an empty one where the file is optional and absent."""
    if not path.is_file():
        return {}
    try:
        content: dict[str, Any] = json.loads(path.read_text())
    except ValueError as error:
        raise ConfigError(f"is not JSON: {error}; reinstall the model", subject=str(path)) from error
    return content
