"""A LlamaIndex retriever over an index: `pip install sitegraph[llamaindex]`."""

import asyncio
import os
from typing import Any

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from retrieval.question.query import TOP_K
from schemas.evidence import Evidence
from sitegraph.integrations.shared import LazyIndex, evidence_metadata
from sitegraph.opened import Filters, OpenedIndex


class SitegraphNodeRetriever(BaseRetriever):
    """Gives the chunks that answer a question as nodes; follows the index from generation to generation.

    `index` is the folder, opened when it is first asked, or an index that `sitegraph.open` has opened and its
    caller closes. The rest is as in `OpenedIndex.retrieve`; *options* are those of LlamaIndex's base class.
    """

    def __init__(
        self,
        index: str | os.PathLike[str] | OpenedIndex,
        *,
        top_k: int = TOP_K,
        filters: Filters | None = None,
        use_graph: bool = True,
        rerank: bool | None = None,
        as_of: str | int | None = None,
        version: str | None = None,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        self._index = index
        self._lazy = LazyIndex()
        self._top_k, self._filters = top_k, filters
        self._use_graph, self._rerank = use_graph, rerank
        self._as_of, self._version = as_of, version

    def close(self) -> None:
        """Close the index, if this retriever opened it."""
        self._lazy.close()

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        bundle = self._lazy.get(self._index).retrieve(
            query_bundle.query_str,
            top_k=self._top_k,
            filters=self._filters,
            use_graph=self._use_graph,
            rerank=self._rerank,
            as_of=self._as_of,
            version=self._version,
        )
        return [_node(found, bundle.generation) for found in bundle.evidence]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await asyncio.to_thread(self._retrieve, query_bundle)


def _node(found: Evidence, generation: int) -> NodeWithScore:
    metadata = evidence_metadata(found, generation=generation)
    # What a prompt or an encoder is shown of a node is its text and where it stands, no scores and ids.
    hidden = sorted(metadata.keys() - {"citation", "heading_path"})
    node = TextNode(
        id_=found.chunk_id,
        text=found.text,
        metadata=metadata,
        excluded_embed_metadata_keys=hidden,
        excluded_llm_metadata_keys=hidden,
    )
    return NodeWithScore(node=node, score=found.score)
