"""Tools, and documents that speak of them, as small as a rule needs."""

from collections.abc import Sequence
from typing import Any

from ingest.link.explained_by import explained_by_edges
from ingest.link.tool_names import tool_names
from schemas.edges import Edge
from schemas.ids import chunk_id, section_id, tool_id
from schemas.nodes import Chunk, DocumentKind, Tool

DOC = "page:a"


def make_tool(name: str, *, tool_type: str = "tool", doc: str = "tools:a", **fields: Any) -> Tool:
    """A tool of the source `site`."""
    stated = {"source": "site", "path": "tools.yaml", **fields}
    return Tool(id=tool_id(doc, tool_type, name), doc=doc, name=name, tool_type=tool_type, **stated)


def make_passages(*passages: tuple[tuple[str, ...], str, tuple[str, ...]]) -> tuple[Chunk, ...]:
    """Passages of one document in reading order: heading path, text, and the ids that stand in it."""
    return tuple(
        Chunk(
            id=chunk_id(DOC, path, text, ordinal),
            kind=DocumentKind.HTML,
            source="site",
            doc=DOC,
            text=text,
            content_hash="",
            ordinal=ordinal,
            offsets=(0, len(text)),
            token_count=1,
            heading_path=path,
            section=path[-1] if path else None,
            section_id=section_id(DOC, path, 0),
            fragment=ids[0] if ids else None,
            fragments=ids[1:],
        )
        for ordinal, (path, text, ids) in enumerate(passages)
    )


def explain(tools: Sequence[Tool], chunks: Sequence[Chunk]) -> list[Edge]:
    """Edges of one document, the best first."""
    edges = explained_by_edges(chunks, tool_names(tools), source="site")
    return sorted(edges, key=lambda edge: (-(edge.score or 0), edge.id))
