"""LlamaIndex in the race: an IngestionPipeline with a document store, upserts and deletes.

The document store is persisted after each run. Its cache is off: an entry is a whole set of nodes, so no
phase would hit it. For rows lost behind its back it has nothing but to begin anew.

As shipped, the store deletes by `doc_id = "page"`, which LanceDB takes for the name of a column, so that
every upsert and delete fails; here it is given the quotes of a text.
"""

import json
import shutil
from typing import Any

from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.ingestion import DocstoreStrategy, IngestionPipeline
from llama_index.core.node_parser import TextSplitter
from llama_index.core.schema import Document
from llama_index.core.storage.docstore import SimpleDocumentStore
from llama_index.vector_stores.lancedb import LanceDBVectorStore

from bench.peers.contestant import Order, read_order
from bench.peers.encoding import Encoder

BATCH = 1_000


class PassThrough(TextSplitter):
    """A document's text is the list of its chunks."""

    def split_text(self, text: str) -> list[str]:
        """Read the list."""
        chunks: list[str] = json.loads(text)
        return chunks


class QuotingStore(LanceDBVectorStore):
    """The store, with a condition that LanceDB understands."""

    def delete(self, ref_doc_id: str, **_options: Any) -> None:
        """Delete the rows of a document."""
        self.table.delete(f"{self.doc_id_key} = '{ref_doc_id}'")


class RaceEmbedding(BaseEmbedding):
    """The encoder of the race."""

    encoder: Any

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        vectors: list[list[float]] = self.encoder.encode(texts).tolist()
        return vectors

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._get_text_embeddings([text])[0]

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)


def run(order: Order) -> None:
    """Bring the table up to date."""
    if order.mend:
        shutil.rmtree(order.state)
    order.state.mkdir(exist_ok=True)
    kept = order.state / "docstore.json"
    pipeline = IngestionPipeline(
        transformations=[PassThrough(), RaceEmbedding(encoder=Encoder(order), embed_batch_size=BATCH)],
        vector_store=QuotingStore(uri=str(order.state / "lance"), table_name="chunks"),
        docstore=SimpleDocumentStore.from_persist_path(str(kept)) if kept.exists() else SimpleDocumentStore(),
        docstore_strategy=DocstoreStrategy.UPSERTS_AND_DELETE,
        disable_cache=True,
    )
    paths = sorted(order.source.iterdir())
    pipeline.run(documents=[Document(text=path.read_text(), id_=path.name) for path in paths])
    pipeline.docstore.persist(str(kept))


if __name__ == "__main__":
    run(read_order())
