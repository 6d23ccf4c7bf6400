"""What stands around a node."""

from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import FastAPI, Path, Query
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from indexes.wiring import Readers
from schemas.edges import EdgeKind
from schemas.nodes import NodeKind
from schemas.unseen import replace_unseen
from sitegraph.graph_view.svg import embed_svg
from sitegraph.service.pages.frame import Pages
from sitegraph.service.viewer.near import HOPS, Near, open_near, page_of_node

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
