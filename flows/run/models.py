"""Which model a run encodes with, and where the vectors of its generation go.

The settings name a model and the arithmetic that it encodes documents in; without them both are those of the
vectors which readers see. A run with another of either changes the whole index, and only where that was
accepted (flows/run/opening.py).
"""

from dataclasses import replace
from pathlib import Path

from indexes.embed.weights import ModelSpec, load_model_spec
from indexes.manifest import ModelManifest
from schemas.settings import Settings


def find_model(settings: Settings) -> ModelSpec:
    """Find the model that the settings name, the packaged one by default."""
    spec = load_model_spec(settings.model) if settings.model else load_model_spec()
    return replace(spec.in_dtype(settings.dtype), token_vectors=bool(settings.late_interaction))


def is_same(held: ModelManifest, spec: ModelSpec) -> bool:
    """Whether both give the same vectors, so that one may be compared with the other's, and as many."""
    return (held.sha256, held.dtype, held.token_vectors) == (spec.sha256, spec.dtype, spec.token_vectors)


def names_of_change(held: ModelManifest, spec: ModelSpec) -> tuple[str, str]:
    """What to call the model before a change and the one after, with what differs beside the name."""
    pairs: list[tuple[str, str]] = []
    if held.dtype != spec.dtype:
        pairs.append((held.dtype, spec.dtype))
    if held.token_vectors != spec.token_vectors:
        pairs.append((_tokens(held.token_vectors), _tokens(spec.token_vectors)))
    if not pairs:
        return held.name, spec.name
    before, after = (", ".join(said) for said in zip(*pairs, strict=True))
    return f"{held.name} ({before})", f"{spec.name} ({after})"


def _tokens(kept: bool) -> str:
    return f"late interaction {'on' if kept else 'off'}"


def manifest_of(spec: ModelSpec) -> ModelManifest:
    """What an index remembers of a model."""
    return ModelManifest(
        name=spec.name,
        sha256=spec.sha256,
        dim=spec.dim,
        max_tokens=spec.max_tokens,
        dtype=spec.dtype.value,
        token_vectors=spec.token_vectors,
    )


def encoder_cache(settings: Settings) -> Path:
    """Where exported encoders are kept for the next index: in the cache of the user, unless the settings say.

    Source: XDG Base Directory Specification, and its like on other systems, by platformdirs.
    """
    if settings.cache:
        return Path(settings.cache)
    from platformdirs import user_cache_path

    return user_cache_path("sitegraph", appauthor=False) / "encoders"
