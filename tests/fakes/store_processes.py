"""Processes that use an index directory beside the test; spawned, as LanceDB is not fork-safe."""

from collections.abc import Iterator
from multiprocessing.connection import Connection
from pathlib import Path

from indexes.ports import ChunkVectors
from schemas.errors import SitegraphError
from schemas.evidence import SearchField
from schemas.nodes import Chunk
from tests.fakes.graph_samples import DIM, axis, make_chunk, make_vectors


def answer_from(directory: Path, generation: int, pipe: Connection) -> None:
    """Keep one reader of *generation*; answer each message with digest and hits until told False."""
    from indexes.stores.lance.store import LanceChunkStore

    reader = LanceChunkStore(directory, dim=DIM).at(generation)
    pipe.send("ready")
    while pipe.recv():
        try:
            words = reader.search_text(SearchField.TEXT, "common", top_k=5)
            near = reader.search_vector(SearchField.TEXT, axis(0), top_k=5)
            pipe.send((reader.state().digest, words, near))
        except SitegraphError as error:
            pipe.send(error)


def apply_without_end(directory: Path, generation: int, base: int, pipe: Connection) -> None:
    """Stage *generation*, commit one apply, and start another that never ends; to be killed."""
    from indexes.stores.lance.store import LanceChunkStore

    writer = LanceChunkStore(directory, dim=DIM).writer()
    writer.stage(generation, base=base)
    writer.apply([(make_chunk("half done"), make_vectors())], [])
    writer.apply(_endless(pipe), [])


def _endless(pipe: Connection) -> Iterator[tuple[Chunk, ChunkVectors]]:
    for number in range(10**9):
        if number == 3000:
            pipe.send("under way")
        if number > 3000:
            pipe.poll(None)
        yield make_chunk(f"number {number}"), make_vectors()
