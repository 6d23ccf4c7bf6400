"""LangChain in the race: `index()` with a record manager in SQLite and full clean-up.

The store appends: by its default, `overwrite`, each batch would replace the table. For rows lost behind its
back it has `force_update`, with which all documents are added again, so the table is emptied first.
"""

import json
from collections.abc import Iterator

from langchain_classic.indexes import SQLRecordManager, index
from langchain_community.vectorstores import LanceDB
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings

from bench.peers.contestant import Order, read_order
from bench.peers.encoding import Encoder

BATCH = 1_000


class RaceEmbeddings(Embeddings):
    """The encoder of the race."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Encode chunks."""
        vectors: list[list[float]] = self._encoder.encode(texts).tolist()
        return vectors

    def embed_query(self, text: str) -> list[float]:
        """Encode a question."""
        return self.embed_documents([text])[0]


def load(order: Order) -> Iterator[Document]:
    """Yield every chunk of every document."""
    for path in sorted(order.source.iterdir()):
        for text in json.loads(path.read_text()):
            yield Document(page_content=text, metadata={"source": path.name})


def run(order: Order) -> None:
    """Bring the table up to date."""
    order.state.mkdir(exist_ok=True)
    records = SQLRecordManager("lancedb/chunks", db_url=f"sqlite:///{order.state / 'records.sqlite'}")
    records.create_schema()
    store = LanceDB(
        uri=str(order.state / "lance"),
        table_name="chunks",
        mode="append",
        embedding=RaceEmbeddings(Encoder(order)),
    )
    if order.mend:
        store.delete(delete_all=True)
    index(
        load(order),
        records,
        store,
        batch_size=BATCH,
        cleanup="full",
        source_id_key="source",
        key_encoder="sha256",
        force_update=order.mend,
    )


if __name__ == "__main__":
    run(read_order())
