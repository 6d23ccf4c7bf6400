"""Which model a run encodes with, and where the vectors of its generation go.

The settings name a model and the arithmetic that it encodes documents in; without them both are those of the
vectors which readers see. A run with another of either changes the whole index, and only where that was
accepted (flows/run/opening.py).
"""

from pathlib import Path

from indexes.embed.weights import ModelSpec, load_model_spec
from indexes.manifest import ModelManifest
from schemas.settings import Settings


def find_model(settings: Settings) -> ModelSpec:
    """Find the model that the settings name, the packaged one by default."""
    spec = load_model_spec(settings.model) if settings.model else load_model_spec()
    return spec.in_dtype(settings.dtype)


def is_same(held: ModelManifest, spec: ModelSpec) -> bool:
    """Whether both give the same vectors, so that one may be compared with the other's."""
    return (held.sha256, held.dtype) == (spec.sha256, spec.dtype)


def names_of_change(held: ModelManifest, spec: ModelSpec) -> tuple[str, str]:
    """What to call the model before a change and the one after, with the dtypes where these differ."""
    if held.dtype == spec.dtype:
        return held.name, spec.name
    return f"{held.name} ({held.dtype})", f"{spec.name} ({spec.dtype})"


def manifest_of(spec: ModelSpec) -> ModelManifest:
    """What an index remembers of a model."""
    return ModelManifest(
        name=spec.name, sha256=spec.sha256, dim=spec.dim, max_tokens=spec.max_tokens, dtype=spec.dtype.value
    )


def encoder_cache(settings: Settings) -> Path:
    """Where exported encoders are kept for the next index: in the cache of the user, unless the settings say.

    Source: XDG Base Directory Specification, and its like on other systems, by platformdirs.
    """
    if settings.cache:
        return Path(settings.cache)
    from platformdirs import user_cache_path

    return user_cache_path("sitegraph", appauthor=False) / "encoders"
