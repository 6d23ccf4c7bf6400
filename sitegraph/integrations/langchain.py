"""A LangChain retriever over an index: `pip install sitegraph[langchain]`."""

import os
from typing import Any

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import ConfigDict, PrivateAttr

from retrieval.question.query import TOP_K
from schemas.evidence import Evidence
from sitegraph.integrations.shared import LazyIndex, evidence_metadata
from sitegraph.opened import Filters, OpenedIndex


class SitegraphRetriever(BaseRetriever):
    """Gives the chunks that answer a question as documents; follows the index from generation to generation.

    `index` is the folder, opened when it is first asked, or an index that `sitegraph.open` has opened and its
    caller closes. The rest is as in `OpenedIndex.retrieve`; `top_k`, `filters`, `as_of` and `version` may be
    given to `invoke` for one question.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    index: str | os.PathLike[str] | OpenedIndex
    top_k: int = TOP_K
    filters: dict[str, Any] | None = None
    use_graph: bool = True
    rerank: bool | None = None
    as_of: str | int | None = None
    version: str | None = None
    _lazy: LazyIndex = PrivateAttr(default_factory=LazyIndex)

    def close(self) -> None:
        """Close the index, if this retriever opened it."""
        self._lazy.close()

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,  # noqa: ARG002
        top_k: int | None = None,
        filters: Filters | None = None,
        as_of: str | int | None = None,
        version: str | None = None,
    ) -> list[Document]:
        bundle = self._lazy.get(self.index).retrieve(
            query,
            top_k=self.top_k if top_k is None else top_k,
            filters=self.filters if filters is None else filters,
            use_graph=self.use_graph,
            rerank=self.rerank,
            as_of=self.as_of if as_of is None else as_of,
            version=self.version if version is None else version,
        )
        return [_document(found, bundle.generation) for found in bundle.evidence]


def _document(found: Evidence, generation: int) -> Document:
    return Document(
        id=found.chunk_id, page_content=found.text, metadata=evidence_metadata(found, generation=generation)
    )
