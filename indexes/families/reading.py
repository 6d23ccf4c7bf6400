"""The manuals of one generation, read when somebody first asks for them."""

from functools import cached_property

from indexes.families.manuals import Manual, join_editions
from indexes.ports import ChunkReader
from schemas.families import SourceFamily


class Families:
    """Which documents of a generation are versions of one another; nothing is read without a family."""

    def __init__(self, sources: tuple[SourceFamily, ...] = (), chunks: ChunkReader | None = None) -> None:
        self._sources, self._chunks = sources, chunks

    def over(self, chunks: ChunkReader) -> "Families":
        """The same families as another reader of the generation has them, such as one that sees less."""
        return Families(self._sources, chunks)

    @cached_property
    def manuals(self) -> tuple[Manual, ...]:
        """All manuals that have a document with a version, in name order.

        Raises: StoreUnavailable: the chunk store is gone.
        """
        if self._chunks is None or not self._sources:
            return ()
        return join_editions(self._sources, self._chunks.editions([one.source for one in self._sources]))


NO_FAMILIES = Families()
"""What there is where no source has versions of a manual."""
