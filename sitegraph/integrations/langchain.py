"""A LangChain retriever over an index: `pip install sitegraph[langchain]`."""

from typing import Any

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import ConfigDict, PrivateAttr

from schemas.evidence import Evidence
from sitegraph.integrations.documents import evidence_metadata
from sitegraph.opened import TOP_K, Filters, OpenedIndex, open_index


class SitegraphRetriever(BaseRetriever):
    """Gives the chunks that answer a question as documents; follows the index from generation to generation.

    `index` is the folder, opened when it is first asked, or an index that `sitegraph.open` has opened and its
    caller closes. The rest is as in `OpenedIndex.retrieve`, and may be given to `invoke` for one question.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    index: str | OpenedIndex
    top_k: int = TOP_K
    filters: dict[str, Any] | None = None
    use_graph: bool = True
    rerank: bool | None = None
    _opened: OpenedIndex | None = PrivateAttr(default=None)

    def close(self) -> None:
        """Close the index, if this retriever opened it."""
        if self._opened is not None and self._opened is not self.index:
            self._opened.close()
        self._opened = None

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,  # noqa: ARG002
        top_k: int | None = None,
        filters: Filters | None = None,
    ) -> list[Document]:
        bundle = self._open().retrieve(
            query,
            top_k=self.top_k if top_k is None else top_k,
            filters=self.filters if filters is None else filters,
            use_graph=self.use_graph,
            rerank=self.rerank,
        )
        return [_document(found, bundle.generation) for found in bundle.evidence]

    def _open(self) -> OpenedIndex:
        if self._opened is None:
            self._opened = self.index if isinstance(self.index, OpenedIndex) else open_index(self.index)
        return self._opened


def _document(found: Evidence, generation: int) -> Document:
    return Document(
        id=found.chunk_id, page_content=found.text, metadata=evidence_metadata(found, generation=generation)
    )
