"""Pages that open something: a citation, a document, what stands around a node."""

from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import Depends, FastAPI, Path, Query
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from indexes.wiring import Readers
from schemas.edges import EdgeKind
from schemas.errors import ParseError
from schemas.nodes import Chunk, NodeKind, PdfDoc
from schemas.text import replace_unseen
from schemas.uses import tell_uses
from sitegraph.actions.blame import blame_chunk
from sitegraph.actions.neighbourhood import embed_svg
from sitegraph.service.contract import CHUNK_ID, DOCUMENT_ID, NUMBER_MAX
from sitegraph.service.pages.frame import Pages
from sitegraph.service.problems import HttpProblem
from sitegraph.service.readers import refuse_allow
from sitegraph.service.viewer.citation import (
    FIT,
    ZOOMS,
    Opened,
    ShownPage,
    dpi_of,
    name_of,
    open_citation,
    read_sheet,
    trail_of,
)
from sitegraph.service.viewer.document import HEADINGS_MAX, HOPS, Near, open_document, open_near, page_of_node

PDF_ID = r"^pdfdoc:[a-z2-7]{26}$"
PAGE_NO_MAX = 999_999
_KEPT = "private, max-age=600"


def add_cite(app: FastAPI, pages: Pages) -> None:
    """Add the page of a citation."""

    @pages.get(app, "/cite/{chunk_id}")
    async def cite(
        request: Request,
        chunk_id: Annotated[str, Path(pattern=CHUNK_ID)],
        page: Annotated[int | None, Query(ge=1, le=PAGE_NO_MAX)] = None,
        zoom: Annotated[int, Query()] = FIT,
    ) -> Response:
        def work(readers: Readers) -> dict[str, Any]:
            found = open_citation(readers, pages.parts.archive, chunk_id)
            if not isinstance(found, Opened):
                return {"found": found, "superseded": True}
            sheet = _sheet(readers, pages, found, page, zoom if zoom in ZOOMS else FIT)
            return {
                "found": found,
                "superseded": False,
                "title": name_of(found.document) if found.document else _place(found.chunk),
                "trail": trail_of(found.chunk),
                "uses": tell_uses(found.document.uses) if found.document else "",
                "blame": blame_chunk(readers, pages.parts.archive, found.chunk),
                "sheet": sheet,
                "picture": sheet and picture_address(found.chunk.doc, sheet, readers.generation),
                "turns": sheet and _turns(chunk_id, sheet, zoom if zoom in ZOOMS else FIT),
            }

        return await pages.show(request, "cite.html", work)


def add_pictures(app: FastAPI, pages: Pages) -> None:
    """Add the pictures of pages that a citation shows."""

    @app.get("/doc/{doc_id}/pages/{page_no}/{dpi}.png", include_in_schema=False)
    async def picture(
        _: Annotated[None, Depends(refuse_allow)],
        doc_id: Annotated[str, Path(pattern=PDF_ID)],
        page_no: Annotated[int, Path(ge=1, le=PAGE_NO_MAX)],
        dpi: int,
        generation: Annotated[int, Query(ge=1)],
    ) -> Response:
        if dpi not in map(dpi_of, ZOOMS):
            raise HttpProblem(404, "no picture of that size", "NotFound")

        def work(readers: Readers) -> bytes:
            if not _was_read(readers, pages, generation):
                raise HttpProblem(404, f"readers do not see generation {generation}", "NotFound")
            try:
                archive = pages.parts.archive
                return archive.page(readers, doc_id, page_no, generation=generation, dpi=dpi).png
            except ParseError as error:
                raise HttpProblem(404, error.message, "NotFound") from error

        png = await pages.parts.threads.run(lambda: pages.parts.retriever.read(work))
        kept = "no-store" if pages.sessions.token is not None else _KEPT
        return Response(png, headers={"Cache-Control": kept}, media_type="image/png")


def picture_address(doc: str, sheet: ShownPage, generation: int) -> str:
    """Return where the picture of a page is; it names the generation, so that both show the same one."""
    return f"/doc/{doc}/pages/{sheet.page_no}/{sheet.dpi}.png?generation={generation}"


def _was_read(readers: Readers, pages: Pages, generation: int) -> bool:
    """Whether a generation is the one that is read, or one it was built on: no other has been published."""
    if generation == readers.generation:
        return True
    return generation in (pages.parts.archive.past(readers, lambda past: past.numbers) or ())


def _sheet(readers: Readers, pages: Pages, found: Opened, page: int | None, zoom: int) -> ShownPage | None:
    chunk = found.chunk
    if chunk.page_no is None:
        return None
    last = found.document.page_count if isinstance(found.document, PdfDoc) else chunk.page_no
    if page is not None and page > last:
        raise HttpProblem(404, f"the document has {last} pages", "NotFound")
    return read_sheet(
        readers,
        pages.parts.archive,
        doc=chunk.doc,
        page_no=page or chunk.page_no,
        pages=last,
        cited=chunk.id,
        zoom=zoom,
    )


def _turns(chunk_id: str, sheet: ShownPage, zoom: int) -> dict[str, Any]:
    """Where turning the page and other sizes lead; the page of the citation is the address without any."""

    def at(page: int, size: int) -> str:
        return f"/cite/{chunk_id}?{urlencode({'page': page, 'zoom': size})}"

    return {
        "same": at(sheet.page_no, zoom),
        "previous": at(sheet.page_no - 1, zoom) if sheet.page_no > 1 else None,
        "next": at(sheet.page_no + 1, zoom) if sheet.page_no < sheet.pages else None,
        "sizes": [
            ("Window width" if size == FIT else f"{size} %", at(sheet.page_no, size), size == zoom)
            for size in ZOOMS
        ],
    }


def _place(chunk: Chunk) -> str:
    return chunk.file_id or chunk.file_path or chunk.url or chunk.doc


def add_doc(app: FastAPI, pages: Pages) -> None:
    """Add the page of a document."""

    @pages.get(app, "/doc/{doc_id}")
    async def doc(
        request: Request,
        doc_id: Annotated[str, Path(pattern=DOCUMENT_ID)],
        offset: Annotated[int, Query(ge=0, le=NUMBER_MAX)] = 0,
    ) -> Response:
        def work(readers: Readers) -> dict[str, Any]:
            found = open_document(readers, pages.parts.archive, doc_id, offset=offset)
            return {"found": found, "has_graph": readers.graph is not None, "step": HEADINGS_MAX}

        return await pages.show(request, "doc.html", work)


NODE_ID = rf"^({'|'.join(kind.value.lower() for kind in NodeKind)}):[a-z2-7]{{26}}$"


def add_near(app: FastAPI, pages: Pages) -> None:
    """Add the page of a neighbourhood."""

    @pages.get(app, "/near/{node_id}")
    async def near(
        request: Request,
        node_id: Annotated[str, Path(pattern=NODE_ID)],
        hops: Annotated[int, Query(ge=HOPS[0], le=HOPS[-1])] = HOPS[0],
        kind: EdgeKind | None = None,
    ) -> Response:
        def work(readers: Readers) -> dict[str, Any]:
            found = open_near(readers, node_id, hops=hops, kind=kind)
            return {
                "found": found,
                "picture": _picture(found),
                "page_of_node": page_of_node,
                "hops": [(count, near_address(node_id, count, kind), count == hops) for count in HOPS],
                "kinds": [
                    (one.value if one else "all kinds", near_address(node_id, hops, one), one is kind)
                    for one in (None, *found.kinds)
                ],
            }

        return await pages.show(request, "near.html", work)


def near_address(node_id: str, hops: int, kind: EdgeKind | None) -> str:
    """Return the address of a neighbourhood."""
    asked = {"hops": hops} if hops != HOPS[0] else {}
    query = urlencode({**asked, **({"kind": kind.value} if kind else {})})
    return f"/near/{node_id}?{query}" if query else f"/near/{node_id}"


def _picture(found: Near) -> Markup:
    """The picture as markup: what names are in it is escaped there, and loses here what steers."""
    svg = embed_svg(
        found.graph, href=lambda node: f"/near/{node.id}", name=f"What stands around {found.start.label}"
    )
    return Markup(replace_unseen(svg))  # noqa: S704 - escaped by embed_svg
