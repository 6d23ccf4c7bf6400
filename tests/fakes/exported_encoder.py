"""The real encoder, exported for readers; made once a checkout."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from indexes.embed import bert_graph
from indexes.embed.encoder import offline_environment
from indexes.embed.export import export_onnx
from indexes.embed.weights import file_sha256, load_model_spec

_REPO = Path(__file__).resolve().parents[2]


def place_exported_encoder(directory: Path, *, token_vectors: bool = False) -> Path:
    """Put the default model's export into the new folder *directory*, and give it.

    The copy it is taken from belongs to the exporting code as it stands: changed code exports again.
    """
    os.environ.update(offline_environment())
    with one_at_a_time():
        spec = replace(load_model_spec(), token_vectors=token_vectors)
        export_onnx(spec, directory, cache=encoder_cache())
    return directory


@contextmanager
def one_at_a_time() -> Iterator[None]:
    """One process at a time: of two workers that begin together, the second takes the first one's copy."""
    lock = encoder_cache().with_suffix(".lock")
    lock.parent.mkdir(parents=True, exist_ok=True)
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def encoder_cache() -> Path:
    """Where exports of the code as it stands are kept; also fit for SITEGRAPH_CACHE."""
    code = file_sha256(Path(bert_graph.__file__))[:12]
    return _REPO / ".cache" / "encoder" / code
