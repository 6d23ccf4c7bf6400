"""Which tools a question is about, and the chunk that defines what each does."""

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from indexes.ports import ChunkReader, GraphReader
from retrieval.graph.surroundings import enclosing_part
from retrieval.search.seeds import EmbeddedQuery
from schemas.edges import Edge, EdgeKind, EvidenceRole
from schemas.evidence import Filter, PathStep, Query, SearchField
from schemas.nodes import Chunk, Tool

IN_SCOPE_MAX = 2
_STATED = (0, 0)
_TOOLS_MAX = 50_000
_AT_ONCE = 500
"""Tools looked through for one that no passage explains, and how many of them are read at once."""

DEFINITION = "definition"
_LOOK_UP = 50
_DISTINCT = re.compile(r"[\s./:-]|\w_\w|[a-z][A-Z]|[A-Za-z]\d")
"""What an everyday word has not: a name with it may stand in a question as it is."""

Bases = Mapping[str, Mapping[str, float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolInScope:
    """A tool that is asked about, with the edge to the chunk that defines it, if one is known."""

    tool: Tool
    defined_by: Edge | None = None

    @property
    def chunk(self) -> str | None:
        """The chunk that defines the tool."""
        return self.defined_by.chunk if self.defined_by else None

    @property
    def path(self) -> tuple[PathStep, ...]:
        """The way from the tool to that chunk."""
        edge = self.defined_by
        if edge is None:
            return ()
        return (PathStep(src=edge.src, kind=edge.kind.value, dst=edge.dst, chunk=edge.chunk),)


def names_tool(text: str, name: str) -> bool:
    """Whether *text* speaks of a tool by *name*.

    A dotted name may lack its first parts, and a name with several words or characters may be written in any
    case; an everyday word counts only where it is called (`get()`), set as code, or said to be a command.
    """
    parts = re.split(r"(?<=\w)(?:\.|::)(?=\w)", name)
    suffixes = [name, *(".".join(parts[start:]) for start in range(1, len(parts) - 1))]
    if any(_DISTINCT.search(one) and _stands_in(text, re.escape(one)) for one in suffixes):
        return True
    last = re.escape(parts[-1])
    kind = r"(?:tool|command|builtin|utility|program|function|method|class|operation|endpoint)"
    said = (rf"(?<![\w.-]){last}(?:\(|\s+{kind}\b)", rf"\b{kind}\s+[`'\"]?{last}(?![\w-])", rf"`{last}`")
    return bool(re.search("|".join(said), text))


def _stands_in(text: str, pattern: str) -> bool:
    return bool(re.search(rf"(?<![\w.-]){pattern}(?![\w-]|\.\w)", text, re.IGNORECASE))


def find_tools(
    chunks: ChunkReader,
    graph: GraphReader,
    asked: EmbeddedQuery,
    seeds: Collection[Chunk],
    *,
    measure: Callable[[Collection[str]], Bases],
) -> tuple[ToolInScope, ...]:
    """Return at most 2 tools that the asker or the question names, among those that chunks explain.

    What the asker names comes first, then the longest name. *measure* gives the bases of chunks that pass
    the query's filters; a chunk that does not defines nothing here.
    """
    stated = _stated(asked.query)
    near = [
        *(_explaining(chunks, asked, stated) if stated else ()),
        *(one for one in seeds if one.tool_names),
    ]
    ends = {part for chunk in near for part in (chunk.id, enclosing_part(chunk)) if part}
    into = graph.edges_to(sorted(ends), kinds={EdgeKind.EXPLAINED_BY}) if ends else ()
    found = graph.nodes(sorted({edge.src for edge in into})) if into else ()
    ranked = sorted(
        (rank, tool.name, tool.id, tool)
        for tool in found
        if isinstance(tool, Tool) and (rank := _rank(tool, asked.query.text, stated))
    )
    if not any(rank == _STATED for rank, *_ in ranked) and asked.query.tool is not None:
        unexplained = _find_by_name(graph, asked.query.tool.name)
        ranked = [*((_STATED, tool.name, tool.id, tool) for tool in unexplained), *ranked]
    return _with_definitions(graph, [one[-1] for one in ranked[:IN_SCOPE_MAX]], measure)


def _stated(query: Query) -> frozenset[str]:
    """Names that the asker gives apart from the question."""
    listed = {value for one in query.filters if one.field == "tool_names" for value in one.values}
    return frozenset(listed | ({query.tool.name} if query.tool else set()))


def _explaining(chunks: ChunkReader, asked: EmbeddedQuery, names: Collection[str]) -> tuple[Chunk, ...]:
    only = (Filter(field="tool_names", values=tuple(sorted(names))),)
    hits = chunks.search_vector(SearchField.TEXT, asked.vector, top_k=_LOOK_UP, filters=only)
    return chunks.get([hit.chunk_id for hit in hits])


def _find_by_name(graph: GraphReader, name: str) -> tuple[Tool, ...]:
    """Tools of the index that are called so, in whatever case, though no passage explains them."""
    ids = graph.ids_between("tool:", "tool;", limit=_TOOLS_MAX)
    tools = (tool for at in range(0, len(ids), _AT_ONCE) for tool in graph.nodes(ids[at : at + _AT_ONCE]))
    same = [tool for tool in tools if isinstance(tool, Tool) and _is_called(tool, name)]
    return tuple(sorted(same, key=lambda tool: (tool.name != name, tool.id)))


def _is_called(tool: Tool, name: str) -> bool:
    return name.casefold() in (one.casefold() for one in (tool.name, *tool.aliases, *tool.endpoints))


def _rank(tool: Tool, text: str, stated: frozenset[str]) -> tuple[int, int] | None:
    """Place of a tool among those in scope; None where nobody names it."""
    names = (tool.name, *tool.aliases, *tool.endpoints)
    if not stated.isdisjoint(names):
        return _STATED
    said = [len(name) for name in names if names_tool(text, name)]
    return (1, -max(said)) if said else None


def _with_definitions(
    graph: GraphReader, tools: Collection[Tool], measure: Callable[[Collection[str]], Bases]
) -> tuple[ToolInScope, ...]:
    if not tools:
        return ()
    edges = graph.edges_from(sorted(tool.id for tool in tools), kinds={EdgeKind.EXPLAINED_BY})
    defining = [edge for edge in edges if edge.role is EvidenceRole.DEFINES and edge.chunk]
    bases = measure(sorted({edge.doc for edge in defining}))
    ranked = sorted(defining, key=lambda edge: (-round(edge.score or edge.confidence, 6), edge.id))
    best: dict[str, Edge] = {}
    for edge in ranked:
        if edge.chunk in bases.get(edge.doc, {}):
            best.setdefault(edge.src, edge)
    return tuple(ToolInScope(tool=tool, defined_by=best.get(tool.id)) for tool in tools)
