"""Where the vectors of the next generation go: a change of model begins a table of its own."""

from flows.run.contexts import DeriveContext
from flows.run.index import encoder_folder
from flows.run.models import is_same, manifest_of
from indexes.manifest import VectorSpace, table_begun_by
from schemas.errors import SchemaMismatch


def changes_model(run: DeriveContext) -> bool:
    """Whether what readers see now has vectors of another model than the run's, or of another dtype.

    Raises: SchemaMismatch: it has since the run began, and that was not accepted.
    """
    held = run.index.model()
    differs = not is_same(held, run.model)
    if differs and not run.may_change_model:
        raise SchemaMismatch(
            f"another run has changed the model to {held.name} ({held.dtype}); run again",
            subject=str(run.index.layout.root),
        )
    return differs


def space_for(run: DeriveContext, generation: int) -> VectorSpace:
    """Where a generation that this run makes has its vectors: where readers see them now, or a new table."""
    index = run.index
    if not changes_model(run):
        return index.chunks.space(index.current())
    return VectorSpace(
        model=manifest_of(run.model),
        table=table_begun_by(generation),
        encoder=encoder_folder(index, run.model).name,
    )
