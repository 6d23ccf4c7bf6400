"""One graph of two sources for the tests of what hands it to other tools."""

import pytest

from indexes.ports import GraphReader
from schemas.edges import Edge, EdgeKind, LinkPosition
from schemas.nodes import BBox, Page, PageSize, PdfPage, PdfRegion, RegionType, Section
from tests.fakes.memory_stores import MemoryGraphStore


@pytest.fixture(scope="package")
def graph() -> GraphReader:
    """Pages of two sources with a section, a PDF region and parallel links, and texts that XML minds."""
    writer = (store := MemoryGraphStore()).writer()
    writer.stage(1, base=0)
    writer.apply_nodes(
        [
            Page(id="page:a", doc="page:a", source="one", title='Q&A <"b">\x00\x1b', content_hash="h"),
            Page(id="page:b", doc="page:b", source="two", title="Zürich 𝔘", content_hash="h", stale=True),
            Section(
                id="section:s",
                doc="page:a",
                source="one",
                heading="Head",
                level=2,
                heading_path=("Top", "Head"),
                ordinal=3,
                text="  two\nlines ",
            ),
            PdfPage(id="pdfpage:p", doc="d", source="one", page_no=4, page_size=PageSize(612, 792)),
            PdfRegion(
                id="pdfregion:r",
                doc="d",
                source="one",
                region_type=RegionType.TABLE,
                page_no=4,
                bbox=BBox(1, 2, 3.5, 4),
                text="t",
                ordinal=0,
                ocr_conf=0.25,
            ),
        ],
        (),
    )
    writer.apply_edges(
        [
            Edge(id="e1", kind=EdgeKind.CONTAINS, src="page:a", dst="section:s", doc="page:a", source="one"),
            *(
                Edge(
                    id=f"e{number}",
                    kind=EdgeKind.LINKS_TO,
                    src="page:a",
                    dst="page:b",
                    doc="page:a",
                    source="one",
                    anchor_text=text,
                    position=LinkPosition.NAV,
                    count=number,
                    confidence=0.5,
                )
                for number, text in ((2, "there"), (3, "a > b"))
            ),
            Edge(id="e4", kind=EdgeKind.LINKS_TO, src="page:b", dst="page:a", doc="page:b", source="two"),
        ],
        (),
    )
    writer.finish(1)
    return store.at(1)
