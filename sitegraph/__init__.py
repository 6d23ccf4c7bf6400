"""The public Python API: what other programs import, loaded when it is first used.

import sitegraph

with sitegraph.open("handbook-index") as index:
    for found in index.retrieve("how long are records kept").evidence:
        print(found.score, found.url, found.text)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from flows.recrawl import index_source
    from retrieval.live import LiveRetriever, open_async_retriever, open_retriever
    from retrieval.question.query import build_query, parse_filters
    from schemas.records import to_record
    from sitegraph.opened import OpenedIndex
    from sitegraph.opened import open_index as open

__all__ = [
    "LiveRetriever",
    "OpenedIndex",
    "build_query",
    "index_source",
    "open",
    "open_async_retriever",
    "open_retriever",
    "parse_filters",
    "to_record",
]

_HOMES = {
    "LiveRetriever": "retrieval.live",
    "OpenedIndex": "sitegraph.opened",
    "build_query": "retrieval.question.query",
    "index_source": "flows.recrawl",
    "open": "sitegraph.opened:open_index",
    "open_async_retriever": "retrieval.live",
    "open_retriever": "retrieval.live",
    "parse_filters": "retrieval.question.query",
    "to_record": "schemas.records",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, _, attribute = _HOMES[name].partition(":")
    return getattr(import_module(module), attribute or name)
