"""The chunk store of an index in memory, which has one model for good."""

from indexes.layout import ModelManifest, VectorSpace
from tests.fakes.memory_stores import MemoryChunkStore


class MemoryTables(MemoryChunkStore):
    """A MemoryChunkStore that says, as the tables of an index do, of which model its vectors are."""

    def __init__(self, model: ModelManifest) -> None:
        super().__init__(dim=model.dim)
        self._model = model

    def space(self, _generation: int) -> VectorSpace:
        """Where the vectors of a generation are: with all others."""
        return VectorSpace(model=self._model)

    def declare(self, _generation: int, _space: VectorSpace) -> None:
        """All generations have their vectors in one place."""
