"""What the chunks of a document say, each word as often as the document says it."""

from collections.abc import Iterator

from ingest.parse.page_kind import NO_PASSAGES
from schemas.fragment import GraphFragment
from schemas.nodes import Chunk, PdfRegion, RegionType, Section


def kept_texts(fragment: GraphFragment) -> Iterator[str]:
    """Yield headings and chunks in reading order, without what a chunk repeats of another.

    A heading counts once, over all chunks in whose path it stands.
    """
    nodes = {node.id: node for node in fragment.nodes if isinstance(node, Section | PdfRegion)}
    said: set[str] = set()
    for chunk in fragment.chunks:
        own = nodes.get(chunk.section_id or chunk.region_id or "")
        said.add(chunk.region_id or "")
        for id_ in (*chunk.parent_ids, chunk.section_id or ""):
            over = nodes.get(id_)
            if isinstance(over, Section) and id_ not in said:
                said.add(id_)
                if over.heading in chunk.heading_path and not (over is own and over.text == over.heading):
                    yield over.heading
        yield own_text(chunk, own.text if own is not None else "")
    paths = {name for chunk in fragment.chunks for name in chunk.heading_path}
    for node in nodes.values():
        if isinstance(node, PdfRegion) and node.region_type is RegionType.HEADING:
            yield from (name for name in node.heading_path[-1:] if name in paths and node.id not in said)


def own_text(chunk: Chunk, parent: str) -> str:
    """Return what a chunk says without the header of a table, or the title of a note, that it repeats."""
    start, end = chunk.offsets
    own = parent[start:end]
    repeated = chunk.text.find(f"\n{own}") if own and not chunk.text.startswith(own) else -1
    return chunk.text[repeated + 1 :]


def stated_apart(fragment: GraphFragment) -> Iterator[tuple[str, str]]:
    """Yield what a fragment has outside of its chunks, with the reason."""
    with_chunk = {chunk.section_id for chunk in fragment.chunks}
    silent = any(warning.endswith(NO_PASSAGES) for warning in fragment.warnings)
    for node in fragment.nodes:
        if not isinstance(node, Section):
            continue
        if node.number:
            yield "number of a heading", node.number
        if node.text == node.heading and node.id in with_chunk:
            yield "text that says its heading again", node.heading
        if silent and node.id not in with_chunk:
            yield NO_PASSAGES, f"{node.heading}\n{node.text}" if node.text != node.heading else node.text
