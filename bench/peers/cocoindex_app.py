"""CocoIndex in the race: as its example of text embeddings in LanceDB, with chunks passed through.

Components a file and memoised embeddings a chunk. For rows lost behind its back it has `full_reprocess`.
"""

import json
import pathlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Annotated, Any

import cocoindex as coco
import numpy as np
from cocoindex.connectors import lancedb, localfs
from cocoindex.resources.file import FileLike
from cocoindex.resources.id import IdGenerator
from cocoindex.resources.schema import VectorSchema, VectorSchemaProvider
from numpy.typing import NDArray

from bench.peers.contestant import read_order
from bench.peers.encoding import DIM, Encoder

ORDER = read_order()
ENCODER = Encoder(ORDER)


class Embedder(VectorSchemaProvider):
    """Built as CocoIndex's own for sentence-transformers: memoised a text, encoded in batches."""

    @coco.fn.as_async(batching=True, max_batch_size=64)
    def _embed(self, texts: list[str]) -> list[NDArray[np.float32]]:
        return list(ENCODER.encode(texts))

    @coco.fn(memo=True, version=1, logic_tracking="self")
    async def embed(self, text: str) -> NDArray[np.float32]:
        """Embed one text."""
        return await self._embed(text)

    async def __coco_vector_schema__(self) -> VectorSchema:
        return VectorSchema(dtype=np.dtype(np.float32), size=DIM)

    def __coco_memo_key__(self) -> object:
        return str(ORDER.model)


LANCE = coco.ContextKey[lancedb.LanceAsyncConnection]("lance")
EMBEDDER = coco.ContextKey[Embedder]("embedder")


@dataclass
class Row:
    """A row of the table."""

    id: int
    document: str
    text: str
    vector: Annotated[NDArray[np.float32], EMBEDDER]


@coco.lifespan
async def lifespan(builder: coco.EnvironmentBuilder) -> AsyncIterator[None]:
    """Open what the app works with."""
    builder.settings.db_path = ORDER.state / "cocoindex.db"
    builder.provide(LANCE, await lancedb.connect_async(str(ORDER.state / "lance")))
    builder.provide(EMBEDDER, Embedder())
    yield


@coco.fn
async def add_chunk(text: str, document: str, ids: IdGenerator, table: Any) -> None:
    """Declare the row of a chunk."""
    vector = await coco.use_context(EMBEDDER).embed(text)
    table.declare_row(row=Row(id=await ids.next_id(text), document=document, text=text, vector=vector))


@coco.fn(memo=True)
async def add_document(file: FileLike, table: Any) -> None:
    """Declare the rows of a document."""
    chunks = json.loads(await file.read_text())
    await coco.map(add_chunk, chunks, file.file_path.path.name, IdGenerator(), table)


@coco.fn
async def fill_table(source: pathlib.Path) -> None:
    """Declare the table and all its rows."""
    schema = await lancedb.TableSchema.from_class(Row, primary_key=["id"])
    table = await lancedb.mount_table_target(LANCE, "chunks", schema)
    await coco.mount_each(add_document, localfs.walk_dir(source).items(), table)


app = coco.App(coco.AppConfig(name="race"), fill_table, source=ORDER.source)

if __name__ == "__main__":
    app.update_blocking(full_reprocess=ORDER.mend)
