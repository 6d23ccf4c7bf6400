"""What things are called and where they open: on our pages, and on the site they come from."""

from indexes.wiring import Readers
from schemas.nodes import Chunk, DocumentKind, Page, PdfDoc, is_document


def live_address(chunk: Chunk) -> str | None:
    """Return the address of a passage on its site: its fragment, words to find it by, or its page of a PDF.

    Source: WICG, "Text Fragments" (`:~:text=`); RFC 8118, 3 (`#page=`).
    """
    if chunk.url is None:
        return None
    opens_at = f"{chunk.fragment or ''}{chunk.text_fragment or ''}"
    if chunk.kind == DocumentKind.PDF and chunk.page_no is not None:
        opens_at = f"page={chunk.page_no}"
    return f"{chunk.url}#{opens_at}" if opens_at else chunk.url


def document_of(readers: Readers, doc: str) -> Page | PdfDoc | None:
    """Return the node of a document; None where it is not there, or the graph is not."""
    found = readers.graph.nodes([doc]) if readers.graph else ()
    return next((node for node in found if is_document(node)), None)


def titles_of(readers: Readers, docs: set[str]) -> dict[str, str]:
    """Return what documents are called, by id."""
    nodes = readers.graph.nodes(docs) if readers.graph and docs else ()
    return {node.id: name_of(node) for node in nodes if isinstance(node, Page | PdfDoc)}


def name_of(node: Page | PdfDoc) -> str:
    """Return the title of a document, else where it is."""
    return node.title.strip() or node.url or node.path or node.id


def trail_of(chunk: Chunk) -> tuple[str, ...]:
    """Return the headings over a passage, else the way to its document."""
    return chunk.heading_path or chunk.breadcrumbs
