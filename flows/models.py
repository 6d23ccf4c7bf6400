"""Which model a run encodes with, and where the vectors of its generation go.

The settings name a model; without them it is that of the vectors which readers see. A run with another one
changes the model of the whole index, and only where that was accepted (flows/opening.py).
"""

from pathlib import Path
from typing import TYPE_CHECKING

from indexes.embed.weights import ModelSpec, load_model_spec
from indexes.manifest import ModelManifest, VectorSpace, table_begun_by
from schemas.errors import SchemaMismatch
from schemas.settings import Settings

if TYPE_CHECKING:
    from flows.wiring import Index, Pipeline


def find_model(settings: Settings) -> ModelSpec:
    """Find the model that the settings name, the packaged one by default."""
    return load_model_spec(settings.model) if settings.model else load_model_spec()


def model_of(index: "Index", *, other: bool = False) -> ModelSpec:
    """Find the model that the settings name, by default the one of the vectors that readers see.

    Raises: SchemaMismatch: the settings name another one, and *other* is false.
    """
    held = index.model()
    spec = load_model_spec(index.settings.model or held.name)
    if spec.sha256 != held.sha256 and not other:
        raise SchemaMismatch(
            f"index was built with model {held.name}, this would use {spec.name}; set SITEGRAPH_MODEL to the "
            "index's model, see what a change would cost with: sitegraph plan, or build a new index",
            subject=str(index.layout.root),
        )
    return spec


def manifest_of(spec: ModelSpec) -> ModelManifest:
    """What an index remembers of a model."""
    return ModelManifest(name=spec.name, sha256=spec.sha256, dim=spec.dim, max_tokens=spec.max_tokens)


def changes_model(pipeline: "Pipeline") -> bool:
    """Whether what readers see now has vectors of another model than the run's.

    Raises: SchemaMismatch: it has since the run began, and that was not accepted.
    """
    held = pipeline.index.model()
    differs = held.sha256 != pipeline.model.sha256
    if differs and not pipeline.may_change_model:
        raise SchemaMismatch(
            f"another run has changed the model to {held.name}; run again",
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
