"""One chunk in its surroundings: the section it was cut from, with the passage marked."""

from indexes.ports import ChunkReader, GraphReader
from retrieval.node_ids import resolve_node_id
from schemas.errors import ConfigError
from schemas.nodes import Chunk, NodeKind, PdfRegion, Section

OPEN_MARK, CLOSE_MARK = "»", "«"


def find_chunk(chunks: ChunkReader, typed: str, *, graph: GraphReader | None = None) -> Chunk:
    """Return the chunk of an id, with or without its leading `chunk:`; its beginning will do, with a graph.

    Raises: ConfigError: no such chunk in this generation, or several that begin so.
    """
    whole = typed if typed.startswith("chunk:") else f"chunk:{typed}"
    found = chunks.get([whole])
    if not found and graph is not None:
        found = chunks.get([resolve_node_id(graph, typed, kinds=(NodeKind.CHUNK,))])
    if not found:
        raise ConfigError(
            "no such chunk in this generation; ids are in the output of: sitegraph query TEXT",
            subject=typed,
        )
    return found[0]


def split_passage(graph: GraphReader | None, chunk: Chunk) -> tuple[str, str, str]:
    """Return the text of the chunk's section in three: before the passage, the passage, behind it.

    The passage is found by its offsets; a section that changed under it is not guessed at. Without a graph
    there is the passage alone.
    """
    parent = chunk.section_id or chunk.region_id
    nodes = graph.nodes([parent]) if graph and parent else ()
    text = nodes[0].text if nodes and isinstance(nodes[0], Section | PdfRegion) else ""
    start, end = chunk.offsets
    if (text[start:end] or "\0") not in chunk.text:
        return "", chunk.text, ""
    return text[:start], text[start:end], text[end:]


def mark_passage(graph: GraphReader | None, chunk: Chunk) -> str:
    """Return the text of the chunk's section, the passage between » and «; without a graph that alone."""
    return mark_parts(*split_passage(graph, chunk))


def mark_parts(before: str, passage: str, after: str) -> str:
    """Return the three as one text, the passage between » and «."""
    return f"{before}{OPEN_MARK}{passage}{CLOSE_MARK}{after}"
