"""Which model a run encodes with, and where the vectors of its generation go.

The settings name a model and the arithmetic that it encodes documents in; without them both are those of the
vectors which readers see. A run with another of either changes the whole index, and only where that was
accepted (flows/opening.py).
"""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from indexes.embed.routes import Dtype
from indexes.embed.weights import ModelSpec, load_model_spec
from indexes.manifest import ModelManifest, VectorSpace, table_begun_by
from schemas.errors import SchemaMismatch
from schemas.settings import Settings

if TYPE_CHECKING:
    from flows.wiring import Index, Pipeline


def find_model(settings: Settings) -> ModelSpec:
    """Find the model that the settings name, the packaged one by default."""
    spec = load_model_spec(settings.model) if settings.model else load_model_spec()
    return replace(spec, dtype=Dtype(settings.dtype or Dtype.AUTO))


def model_of(index: "Index", *, other: bool = False) -> ModelSpec:
    """Find the model that the settings name, by default the one of the vectors that readers see.

    Raises: SchemaMismatch: the settings name another one, or another dtype, and *other* is false.
    """
    held, settings = index.model(), index.settings
    spec = load_model_spec(settings.model or held.name)
    spec = replace(spec, dtype=Dtype(settings.dtype or held.dtype))
    if not is_same(held, spec) and not other:
        before, after = names_of_change(held, spec)
        raise SchemaMismatch(
            f"index was built with model {before}, this would use {after}; set SITEGRAPH_MODEL and "
            "SITEGRAPH_DTYPE to the index's, see what a change would cost with: sitegraph plan SOURCE.yaml, "
            "or build a new index",
            subject=str(index.layout.root),
        )
    return spec


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


def changes_model(pipeline: "Pipeline") -> bool:
    """Whether what readers see now has vectors of another model than the run's, or of another dtype.

    Raises: SchemaMismatch: it has since the run began, and that was not accepted.
    """
    held = pipeline.index.model()
    differs = not is_same(held, pipeline.model)
    if differs and not pipeline.may_change_model:
        raise SchemaMismatch(
            f"another run has changed the model to {held.name} ({held.dtype}); run again",
            subject=str(pipeline.index.layout.root),
        )
    return differs


def space_for(pipeline: "Pipeline", generation: int) -> VectorSpace:
    """Where a generation that this run makes has its vectors: where readers see them now, or a new table."""
    index = pipeline.index
    if not changes_model(pipeline):
        return index.chunks.space(index.current())
    return VectorSpace(
        model=manifest_of(pipeline.model),
        table=table_begun_by(generation),
        encoder=encoder_folder(index, pipeline.model).name,
    )


def encoder_folder(index: "Index", model: ModelSpec) -> Path:
    """Where the query encoder of a model is exported to."""
    if model.sha256 == index.manifest.model.sha256:
        return index.layout.encoder
    return index.layout.root / f"encoder-{model.sha256[:12]}"


def encoder_cache(settings: Settings) -> Path:
    """Where exported encoders are kept for the next index: in the cache of the user, unless the settings say.

    Source: XDG Base Directory Specification, and its like on other systems, by platformdirs.
    """
    if settings.cache:
        return Path(settings.cache)
    from platformdirs import user_cache_path

    return user_cache_path("sitegraph", appauthor=False) / "encoders"
