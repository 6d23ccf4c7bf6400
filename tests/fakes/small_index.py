"""Small indexes in memory, made of pages, PDFs, typed edges and links."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from indexes.ports import ChunkReader, ChunkStore, ChunkVectors, Encoder, GraphReader, GraphStore
from schemas.edges import Edge, EdgeKind, LinkPosition
from schemas.ids import (
    chunk_id,
    edge_id,
    page_id,
    pdf_doc_id,
    pdf_page_id,
    pdf_region_id,
    section_id,
    sha256_hex,
)
from schemas.nodes import (
    BBox,
    Chunk,
    ChunkNode,
    DocumentKind,
    Node,
    Page,
    PageSize,
    PdfDoc,
    PdfPage,
    PdfRegion,
    RegionType,
    Section,
)
from tests.fakes.encoder import HashEncoder
from tests.fakes.memory_stores import MemoryChunkStore, MemoryGraphStore

SOURCE = "manual"
AS_OF = "2026-01-31T12:00:00+00:00"
GENERATION = 1
DIM = 64

Document = tuple[tuple[Node, ...], tuple[Chunk, ...]]
"""Nodes and chunks of one document."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SmallIndex:
    """Readers of one generation and the encoder its vectors come from."""

    chunks: ChunkReader
    graph: GraphReader
    encoder: HashEncoder
    rows: tuple[Chunk, ...]
    edges: tuple[Edge, ...]


def page(name: str, sections: dict[str, str], **fields: Any) -> Document:
    """Make a Markdown page with one chunk a section; *fields* are metadata of its chunks."""
    doc = page_id(f"files://{SOURCE}/{name}.md")
    title = next(iter(sections))
    nodes: list[Node] = [
        Page(id=doc, doc=doc, source=SOURCE, title=title, content_hash=sha256_hex(name), path=f"{name}.md")
    ]
    chunks: list[Chunk] = []
    for ordinal, (heading, text) in enumerate(sections.items()):
        path = (title,) if heading == title else (title, heading)
        section = section_id(doc, path, 0)
        nodes.append(
            Section(
                id=section,
                doc=doc,
                source=SOURCE,
                heading=heading,
                level=len(path),
                heading_path=path,
                ordinal=ordinal,
                text=text,
                fragment=slug(heading),
            )
        )
        chunks.append(
            Chunk(
                id=chunk_id(doc, path, text, 0),
                kind=DocumentKind.MARKDOWN,
                source=SOURCE,
                doc=doc,
                text=text,
                content_hash=sha256_hex(text),
                ordinal=ordinal,
                offsets=(0, len(text)),
                token_count=len(text.split()),
                heading_path=path,
                breadcrumbs=("Manual", title),
                parent_ids=(section, doc),
                file_path=f"{name}.md",
                fragment=slug(heading),
                section=heading,
                section_id=section,
                lang="en",
                **fields,
            )
        )
    return (*nodes, *(_chunk_node(chunk) for chunk in chunks)), tuple(chunks)


def pdf(name: str, passages: Iterable[tuple[int, str]]) -> Document:
    """Make a PDF with one region and one chunk a passage; a passage is a page number and its text."""
    doc = pdf_doc_id(f"files://{SOURCE}/{name}.pdf")
    size, box = PageSize(612, 792), BBox(72, 100, 540, 160)
    listed = tuple(passages)
    nodes: list[Node] = [
        PdfDoc(
            id=doc,
            doc=doc,
            source=SOURCE,
            title=name,
            content_hash=sha256_hex(name),
            file_id=f"{name}.pdf",
            page_count=max(number for number, _ in listed),
            path=f"{name}.pdf",
        )
    ]
    nodes += [
        PdfPage(id=pdf_page_id(doc, number), doc=doc, source=SOURCE, page_no=number, page_size=size)
        for number in sorted({number for number, _ in listed})
    ]
    chunks: list[Chunk] = []
    for ordinal, (number, text) in enumerate(listed):
        region = pdf_region_id(doc, RegionType.PARAGRAPH, text, 0)
        nodes.append(
            PdfRegion(
                id=region,
                doc=doc,
                source=SOURCE,
                region_type=RegionType.PARAGRAPH,
                page_no=number,
                bbox=box,
                text=text,
                ordinal=ordinal,
            )
        )
        chunks.append(
            Chunk(
                id=chunk_id(doc, (), text, 0),
                kind=DocumentKind.PDF,
                source=SOURCE,
                doc=doc,
                text=text,
                content_hash=sha256_hex(text),
                ordinal=ordinal,
                offsets=(0, len(text)),
                token_count=len(text.split()),
                parent_ids=(region, pdf_page_id(doc, number), doc),
                file_path=f"{name}.pdf",
                region_id=region,
                file_id=f"{name}.pdf",
                page_no=number,
                bbox=box,
                page_size=size,
            )
        )
    return (*nodes, *(_chunk_node(chunk) for chunk in chunks)), tuple(chunks)


def typed(kind: EdgeKind, src: Chunk, dst: Chunk) -> Edge:
    """Make an edge that the front matter of *src*'s document states."""
    return Edge(
        id=edge_id(kind, src.doc, dst.doc), kind=kind, src=src.doc, dst=dst.doc, doc=src.doc, source=SOURCE
    )


def link(
    src: Chunk,
    dst: Chunk,
    text: str,
    *,
    position: LinkPosition = LinkPosition.BODY,
    fragment: str | None = None,
) -> Edge:
    """Make a link in the document of *src* to that of *dst*."""
    return Edge(
        id=edge_id(EdgeKind.LINKS_TO, src.doc, dst.doc, text, position, fragment or ""),
        kind=EdgeKind.LINKS_TO,
        src=src.doc,
        dst=dst.doc,
        doc=src.doc,
        source=SOURCE,
        anchor_text=text,
        position=position,
        fragment=fragment,
        chunk=src.id,
    )


def build_index(documents: Iterable[Document], edges: Iterable[Edge]) -> SmallIndex:
    """Write documents and edges into memory stores as generation 1 and open them."""
    listed, joined = tuple(documents), tuple(edges)
    encoder = HashEncoder(DIM)
    chunks, graph = MemoryChunkStore(dim=DIM), MemoryGraphStore()
    write_documents(chunks, graph, listed, joined, encoder)
    return SmallIndex(
        chunks=chunks.at(GENERATION),
        graph=graph.at(GENERATION),
        encoder=encoder,
        rows=tuple(chunk for _, found in listed for chunk in found),
        edges=joined,
    )


def write_documents(
    chunks: ChunkStore,
    graph: GraphStore,
    documents: Iterable[Document],
    edges: Iterable[Edge],
    encoder: Encoder,
) -> None:
    """Write documents and edges into stores as generation 1."""
    listed = tuple(documents)
    writer = chunks.writer()
    writer.stage(GENERATION, base=0)
    writer.apply([(chunk, vectors_of(chunk, encoder)) for _, found in listed for chunk in found], ())
    writer.finish(GENERATION)
    joiner = graph.writer()
    joiner.stage(GENERATION, base=0)
    joiner.apply_nodes([node for nodes, _ in listed for node in nodes], ())
    joiner.apply_edges(edges, ())
    joiner.finish(GENERATION)


def vectors_of(chunk: Chunk, encoder: Encoder) -> ChunkVectors:
    """Encode what each vector of a chunk says."""
    return ChunkVectors(
        text=encoder.encode_query(" ".join((*chunk.heading_path, chunk.text))),
        heading=encoder.encode_query(" ".join(chunk.heading_path))
        if chunk.heading_path
        else np.zeros(0, np.float32),
        anchors=encoder.encode_documents(chunk.anchor_texts),
        captions=encoder.encode_documents(chunk.captions),
    )


def slug(heading: str) -> str:
    """Make a fragment of a heading."""
    return heading.lower().replace(" ", "-")


def _chunk_node(chunk: Chunk) -> ChunkNode:
    return ChunkNode(
        id=chunk.id,
        doc=chunk.doc,
        source=chunk.source,
        content_hash=chunk.content_hash,
        heading_path=chunk.heading_path,
    )
