"""A small index of a shop's manual, whose tools are described and explained."""

import json
from dataclasses import replace
from typing import Any

from schemas.edges import Edge, EdgeKind, EvidenceRole
from schemas.ids import edge_id, tool_id
from schemas.nodes import Chunk, Tool
from tests.fakes.small_index import SOURCE, Document, SmallIndex, build_index, page

RESTOCK_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"amount": {"type": "integer", "minimum": 1}, "shelf": {"type": "string"}},
    "required": ["amount"],
    "additionalProperties": False,
}


def shop_tool(name: str, *, schema: dict[str, Any] | None = None, **fields: Any) -> Tool:
    """A tool of `tools.yaml`."""
    return Tool(
        id=tool_id("tools:shop", "tool", name),
        doc="tools:shop",
        source=SOURCE,
        path="tools.yaml",
        name=name,
        tool_type="tool",
        input_schema=json.dumps(schema, sort_keys=True) if schema else None,
        **fields,
    )


def explained(tool: Tool, chunk: Chunk, role: EvidenceRole, *, score: float = 0.8) -> Edge:
    """An edge from a tool to the section of a passage."""
    end = chunk.section_id or chunk.id
    return Edge(
        id=edge_id(EdgeKind.EXPLAINED_BY, tool.id, end),
        kind=EdgeKind.EXPLAINED_BY,
        src=tool.id,
        dst=end,
        doc=chunk.doc,
        source=SOURCE,
        confidence=score,
        score=score,
        chunk=chunk.id,
        text=chunk.text[:20],
        role=role,
    )


def shop_index(schema: dict[str, Any] | None = RESTOCK_SCHEMA) -> SmallIndex:
    """`shop restock` is defined on a page whose words no question has, and mentioned on many others."""
    restock = shop_tool(
        "shop restock", schema=schema, description="Fills a shelf.", aliases=("refill-shelf",)
    )
    run = shop_tool("run")
    till = shop_tool("till", description="Nobody writes of it.")
    definition = _with_tools(
        page(
            "reference",
            {"Commands": "General remarks.", "Refilling": "Puts goods on boards."},
            doc_type="reference",
        ),
        at=1,
        name=restock.name,
    )
    guides = [
        _with_tools(
            page(f"guide{n}", {f"Guide {n}": f"Use shop restock in the morning, part {n}."}),
            at=0,
            name=restock.name,
        )
        for n in range(9)
    ]
    other = _with_tools(page("running", {"Running": "How to run in the shop."}), at=0, name="run")
    edges = [
        explained(restock, definition[1][1], EvidenceRole.DEFINES),
        *(explained(restock, guide[1][0], EvidenceRole.MENTIONS, score=0.3) for guide in guides),
        explained(run, other[1][0], EvidenceRole.DEFINES),
    ]
    return build_index([definition, *guides, other, ((restock, run, till), ())], edges)


def _with_tools(document: Document, *, at: int, name: str) -> Document:
    nodes, chunks = document
    named = (replace(chunk, tool_names=(name,)) if n == at else chunk for n, chunk in enumerate(chunks))
    return nodes, tuple(named)
