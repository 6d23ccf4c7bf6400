"""A document opened."""

from typing import Annotated, Any

from fastapi import FastAPI, Path, Query
from starlette.requests import Request
from starlette.responses import Response

from indexes.wiring import Readers
from sitegraph.service.contract import DOCUMENT_ID, NUMBER_MAX
from sitegraph.service.pages.frame import Pages
from sitegraph.service.viewer.document import HEADINGS_MAX, open_document


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
