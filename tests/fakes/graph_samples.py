"""Small nodes, edges and chunks with every field filled that a test may ask for."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from indexes.ports import ChunkVectors, Vector
from schemas.edges import Edge, EdgeKind, EvidenceRole, LinkPosition
from schemas.ids import (
    chunk_id,
    edge_id,
    entity_id,
    page_id,
    pdf_doc_id,
    pdf_page_id,
    pdf_region_id,
    section_id,
    sha256_hex,
    tool_id,
    tools_doc_id,
)
from schemas.nodes import (
    BBox,
    Chunk,
    ChunkNode,
    DateOrigin,
    DocumentKind,
    Entity,
    EntityType,
    Node,
    Page,
    PageKind,
    PageSize,
    PdfDoc,
    PdfPage,
    PdfRegion,
    RegionType,
    Section,
    Tool,
)

DIM = 8


def axis(number: int, *, dim: int = DIM) -> Vector:
    """Unit vector along one axis."""
    vector = np.zeros(dim, dtype=np.float32)
    vector[number % dim] = 1.0
    return vector


def unit(*values: float) -> Vector:
    """Unit vector in the direction of *values*, the rest zero."""
    vector = np.zeros(DIM, dtype=np.float32)
    vector[: len(values)] = values
    return vector / np.float32(np.linalg.norm(vector))


def none(*, dim: int = DIM) -> Vector:
    """No vector where there may be several."""
    return np.zeros((0, dim), dtype=np.float32)


def make_vectors(text: Vector | None = None, **others: Vector) -> ChunkVectors:
    """Vectors of a chunk without anchors and captions, unless given."""
    first = axis(0) if text is None else text
    return ChunkVectors(
        text=first,
        heading=others.get("heading", axis(1)),
        anchors=others.get("anchors", none()),
        captions=others.get("captions", none()),
    )


def make_chunk(text: str, *, uri: str = "https://site.test/guide", ordinal: int = 0, **fields: Any) -> Chunk:
    """A chunk of an HTML page; *fields* override."""
    doc = page_id(uri)
    heading_path = fields.get("heading_path", ("Guide",))
    plain = Chunk(
        id=chunk_id(doc, heading_path, text, 0),
        kind=DocumentKind.HTML,
        source="site",
        doc=doc,
        text=text,
        content_hash=sha256_hex(text),
        ordinal=ordinal,
        offsets=(0, len(text)),
        token_count=len(text.split()),
        heading_path=("Guide",),
        url=uri,
    )
    return replace(plain, **fields)


def full_chunk() -> Chunk:
    """A PDF chunk with no field left at its default."""
    doc = pdf_doc_id("https://site.test/manual.pdf")
    return Chunk(
        id=chunk_id(doc, ("Körper", 'He said "no"'), "It's – a “test” of 100 %\nλ 日本", 0),
        kind=DocumentKind.PDF,
        source="o'neill",
        doc=doc,
        text="It's – a “test” of 100 %\nλ 日本",
        content_hash=sha256_hex("x"),
        ordinal=7,
        offsets=(3, 29),
        token_count=11,
        heading_path=("Körper", 'He said "no"'),
        breadcrumbs=("Home", "Manuals"),
        parent_ids=(doc,),
        doc_id="GOV-0017",
        doc_type="governance",
        domain="ops",
        status="current",
        version="2.1",
        url="https://site.test/manual.pdf",
        file_path="manuals/manual.pdf",
        fragment="page=2",
        text_fragment=":~:text=words",
        fragments=("details",),
        section="Körper",
        section_id=section_id(doc, ("Körper",), 0),
        region_id=pdf_region_id(doc, "table", "cells", 0),
        file_id="manual.pdf",
        page_no=2,
        bbox=BBox(10, 20.5, 300, 400.25),
        page_size=PageSize(612, 792.5),
        codes=("GOV-0017", "max_wal_size", "--dry-run"),
        anchor_texts=("the manual", "see 'there'"),
        captions=("Table 1: limits",),
        code_languages=("python",),
        ocr_conf=0.75,
        lang="de",
        template_type="manual",
        page_kind=PageKind.LISTING,
        tool_names=("pg_dump", "it's"),
        structure_confidence=0.5,
        round_trip=False,
        last_modified="2026-01-02T03:04:05+00:00",
        last_modified_origin=DateOrigin.META,
        fetched_at="2026-02-02T03:04:05Z",
        changed_at="2026-02-03T03:04:05Z",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleGraph:
    """One HTML page with two sections and a PDF it links to."""

    page: Page
    sections: tuple[Section, Section]
    chunk: ChunkNode
    pdf: PdfDoc
    pdf_page: PdfPage
    region: PdfRegion
    entity: Entity
    tool: Tool
    edges: tuple[Edge, ...]

    @property
    def nodes(self) -> tuple[Node, ...]:
        """All nodes."""
        of_pdf = (self.pdf, self.pdf_page, self.region)
        return (self.page, *self.sections, self.chunk, *of_pdf, self.entity, self.tool)


def make_edge(kind: EdgeKind, src: Node, dst: Node, **fields: Any) -> Edge:
    """An edge stated by the document of its source node."""
    qualifier = str(fields.get("anchor_text", ""))
    plain = Edge(
        id=edge_id(kind, src.id, dst.id, qualifier),
        kind=kind,
        src=src.id,
        dst=dst.id,
        doc=src.doc,
        source=src.source,
    )
    return replace(plain, **fields)


def make_page(uri: str, *, title: str = "A page", source: str = "site", **fields: Any) -> Page:
    """An HTML page node."""
    key = page_id(uri)
    page = Page(id=key, doc=key, source=source, title=title, content_hash=sha256_hex(title), url=uri)
    return replace(page, **fields)


def make_entity(name: str, **fields: Any) -> Entity:
    """An entity that a capitalised name stands for."""
    key = entity_id(name, fields.get("disambiguation", ""))
    return replace(Entity(id=key, doc=key, name=name, entity_type=EntityType.NAME), **fields)


def make_tool(name: str, *, source: str = "site", **fields: Any) -> Tool:
    """A command with every field filled."""
    doc = tools_doc_id(f"tools://{source}/tools.yaml")
    tool = Tool(
        id=tool_id(doc, "command", name),
        doc=doc,
        source=source,
        path="tools.yaml",
        name=name,
        tool_type="command",
        aliases=("it's",),
        options=("--dry-run", "-n"),
        endpoints=("GET /a/{id}",),
        description="Says “no”.",
        input_schema='{"type":"object"}',
    )
    return replace(tool, **fields)


def make_graph(site: str = "https://site.test", *, source: str = "site") -> SampleGraph:
    """A graph with a node of every kind that parsers make, and edges of seven kinds."""
    page = make_page(f"{site}/guide", title="It's a “guide”", source=source, breadcrumbs=("Home", "Guide"))
    top, inner = (_section(page, path, n) for n, path in enumerate((("Guide",), ("Guide", "Köln"))))
    chunk = ChunkNode(
        id=chunk_id(page.id, ("Guide",), "words", 0), doc=page.id, source=source, content_hash="c0"
    )
    pdf, pdf_page, region = _pdf_nodes(f"{site}/manual.pdf", source)
    entity = make_entity(f"It's {site}", disambiguation="a “guide”", aliases=("ITS", "its"), source=source)
    tool = make_tool(f"open {site}", source=source)
    edges = (
        make_edge(EdgeKind.CONTAINS, page, top),
        make_edge(EdgeKind.PARENT_OF, top, inner),
        make_edge(EdgeKind.CONTAINS, top, chunk),
        make_edge(EdgeKind.MATERIALIZED_FROM, chunk, top),
        make_edge(EdgeKind.CONTAINS, pdf, pdf_page),
        make_edge(EdgeKind.CONTAINS, pdf_page, region),
        make_edge(
            EdgeKind.LINKS_TO,
            page,
            pdf,
            anchor_text='the "manual"',
            position=LinkPosition.BODY,
            fragment="page=2",
            count=3,
        ),
        make_edge(
            EdgeKind.EXPLAINED_BY,
            tool,
            chunk,
            doc=page.id,
            score=0.25,
            confidence=0.5,
            chunk=chunk.id,
            text="it's",
            role=EvidenceRole.MENTIONS,
            reason="code, text",
        ),
        make_edge(EdgeKind.MENTIONS, chunk, entity, confidence=0.5, chunk=chunk.id, text="ITS"),
        make_edge(EdgeKind.RELATES_TO, pdf, page, predicate="implements"),
    )
    return SampleGraph(
        page=page,
        sections=(top, inner),
        chunk=chunk,
        pdf=pdf,
        pdf_page=pdf_page,
        region=region,
        entity=entity,
        tool=tool,
        edges=edges,
    )


def _section(page: Page, path: tuple[str, ...], ordinal: int) -> Section:
    return Section(
        id=section_id(page.id, path, 0),
        doc=page.id,
        source=page.source,
        heading=path[-1],
        level=len(path),
        heading_path=path,
        ordinal=ordinal,
        text="words",
        number="8.1",
        fragment=path[-1].lower(),
        url=page.url,
    )


def _pdf_nodes(uri: str, source: str) -> tuple[PdfDoc, PdfPage, PdfRegion]:
    key = pdf_doc_id(uri)
    doc = PdfDoc(
        id=key,
        doc=key,
        source=source,
        title="Manual",
        content_hash="p0",
        file_id="manual.pdf",
        page_count=1,
        url=uri,
    )
    page = PdfPage(
        id=pdf_page_id(key, 1),
        doc=key,
        source=source,
        page_no=1,
        page_size=PageSize(612, 792),
        page_label="i",
    )
    region = PdfRegion(
        id=pdf_region_id(key, "table", "cells", 0),
        doc=key,
        source=source,
        region_type=RegionType.TABLE,
        page_no=1,
        bbox=BBox(0, 0, 10.5, 20),
        text="cells",
        ordinal=0,
    )
    return doc, page, region
