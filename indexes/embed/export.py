"""Put the query encoder beside the index as ONNX, so that readers need no torch.

What is written was chosen by the time a cold reader takes to load it: docs/decisions/0003-onnx-encoder.md.
"""

import os
import shutil
import tempfile
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

from indexes.embed.bert_graph import read_bert, write_bert
from indexes.embed.child import call_in_child
from indexes.embed.manifest import (
    FORMAT,
    GRAPH_FILE,
    MANIFEST_FILE,
    TOKENIZER_FILE,
    WEIGHTS_FILE,
    EncoderManifest,
    dump_encoder_manifest,
    load_encoder_manifest,
)
from indexes.embed.onnx_graph import write_given_graph, write_onnx
from indexes.embed.reader_encoder import OnnxEncoder
from indexes.embed.unrelated import measure_languages, measure_unrelated
from indexes.embed.weights import ModelSpec, encoder_key, file_sha256, file_sha256_once
from indexes.places import locked
from schemas.errors import SchemaMismatch, SitegraphError
from schemas.ids import sha256_hex


def export_onnx(
    spec: ModelSpec,
    directory: Path,
    *,
    cache: Path | None = None,
    hash_file: Callable[[Path], str] = file_sha256_once,
) -> None:
    """Leave the model of *spec* in *directory* as ONNX, tokenizer and `encoder.json`; once there, it is
    checked.

    What is damaged is exported again; by default a file is hashed once a process. The folder appears whole
    or not at all. With *cache*, a per-user folder, the export is made there, once, and linked from there or
    copied; where it cannot be kept there it is made in place. One process exports at a time,
    others wait. What is no BERT is exported by torch in a child process, which inherits the environment
    (`encoder.offline_environment`).

    Raises: SchemaMismatch: *directory* contains another model, or the export differs from torch;
    ConfigError: a library is missing.
    """
    if directory.exists() and damaged_files(directory, hash_file=hash_file):
        with _alone(directory):
            if damaged_files(directory, hash_file=hash_file):
                shutil.rmtree(directory, ignore_errors=True)
    if not directory.exists():
        kept = _keep(spec, cache, hash_file) if cache else None
        if kept:
            _place_copy(kept, directory)
            return
        with _alone(directory):
            if not directory.exists():
                _export(spec, directory)
    _require_same_model(spec, directory)


def _keep(spec: ModelSpec, cache: Path, hash_file: Callable[[Path], str]) -> Path | None:
    """Have the export in the cache and give its folder; None where nothing can be kept there."""
    kept = cache / cache_name(spec)
    try:
        with _alone(kept):
            if damaged_files(kept, hash_file=hash_file) or not _is_measured(load_encoder_manifest(kept)):
                shutil.rmtree(kept, ignore_errors=True)
                _export(spec, kept)
    except OSError:
        return None
    return kept


def _is_measured(manifest: EncoderManifest) -> bool:
    """Whether this version made an export, or one that wrote down as much of it."""
    return bool(manifest.checksum) and manifest.joins_languages is not None


def _alone(directory: Path) -> AbstractContextManager[None]:
    return locked(directory.with_name(f".{directory.name}.lock"))


def damaged_files(directory: Path, *, hash_file: Callable[[Path], str] = file_sha256) -> tuple[str, ...]:
    """Names of the export's files that are missing or no longer match their sha256; by default reads all."""
    try:
        hashes = load_encoder_manifest(directory).hashes()
    except SitegraphError:
        return (MANIFEST_FILE,)

    def differs(path: Path) -> bool:
        return not path.is_file() or hash_file(path) != hashes[path.name]

    return tuple(name for name in hashes if differs(directory / name))


def _require_same_model(spec: ModelSpec, directory: Path) -> None:
    manifest = load_encoder_manifest(directory)
    if (manifest.model_key, manifest.query_prompt) != (encoder_key(spec), spec.query_prompt):
        apart = "" if manifest.model_sha256 != spec.sha256 else " with another window or other prompts"
        raise SchemaMismatch(
            f"index was built with model {manifest.model} ({manifest.model_sha256[:12]}), this run uses "
            f"{spec.name} ({spec.sha256[:12]}){apart}; use that model, or build a new index",
            subject=str(directory),
        )


def cache_name(spec: ModelSpec) -> str:
    """Name the folder of an export of *spec* by this onnxruntime in the per-user cache."""
    parts = (str(FORMAT), version("onnxruntime"), spec.name, encoder_key(spec), spec.query_prompt)
    return sha256_hex("\0".join(parts))[:32]


def _export(spec: ModelSpec, directory: Path) -> None:
    # A fixed name: one process exports at a time, and what a killed one left is 90 MB.
    part = directory.with_name(f".{directory.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    try:
        shutil.copyfile(spec.path / "tokenizer.json", part / TOKENIZER_FILE)
        if bert := None if spec.graph else read_bert(spec.path):
            write_bert(bert, spec, part)
        else:  # in a child: torch takes 1.6 GB, more than a whole run is allowed to
            call_in_child(write_given_graph if spec.graph else write_onnx, spec, part)
        dump_encoder_manifest(_manifest(spec, part), part)
        dump_encoder_manifest(_measured(load_encoder_manifest(part), OnnxEncoder(part)), part)
        part.rename(directory)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _manifest(spec: ModelSpec, folder: Path) -> EncoderManifest:
    return EncoderManifest(
        format=FORMAT,
        model=spec.name,
        model_sha256=spec.sha256,
        model_key=encoder_key(spec),
        dim=spec.dim,
        max_tokens=spec.max_tokens,
        query_prompt=spec.query_prompt,
        document_prompt=spec.document_prompt,
        onnxruntime=version("onnxruntime"),
        graph_sha256=file_sha256(folder / GRAPH_FILE),
        weights_sha256=file_sha256(folder / WEIGHTS_FILE),
        tokenizer_sha256=file_sha256(folder / TOKENIZER_FILE),
    )


def _measured(manifest: EncoderManifest, encoder: OnnxEncoder) -> EncoderManifest:
    return replace(manifest, unrelated=measure_unrelated(encoder), joins_languages=measure_languages(encoder))


def _place_copy(export: Path, target: Path) -> None:
    """Link the files of *export* into a new folder *target*, or copy them where links cannot be.

    Nothing ever writes into these files again, so sharing them is safe. Where somebody else placed
    *target* meanwhile, theirs stays.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    part = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}."))
    try:
        for file in export.iterdir():
            _link_or_copy(file, part / file.name)
        part.chmod(0o755)  # mkdtemp makes private folders, and an index may have readers of other users
        part.rename(target)
    except OSError:
        if not (target / MANIFEST_FILE).is_file():
            raise
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _link_or_copy(source: Path, target: Path) -> None:
    try:
        os.link(source, target)
    except OSError:  # another file system, or one without links
        shutil.copyfile(source, target)
