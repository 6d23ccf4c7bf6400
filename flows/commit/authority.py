"""Before step 9: what the links and the readers' clicks say of each document of a staged generation."""

from flows.run.index import Index
from indexes.stores.ledger.generations import Generation
from ingest.link.authority import weigh_documents
from retrieval.learning.clicks import CLICK_FILE, count_clicks
from schemas.edges import EdgeKind
from schemas.nodes import DocumentKind, Node, Page, PageKind, PdfDoc
from schemas.report import Problem


def compute_authority(index: Index, generation: Generation) -> None:
    """Keep the authority of every page and PDF beside a generation that is about to be published.

    Pages that are no content (indexes, lists of changes ...) have none and give none. Never in rows nor in
    their hashes: one new link moves every value. Clicks count from the log as it is now.
    """
    number = generation.generation
    clicks = count_clicks(index.layout.root)
    if clicks.unreadable:
        reason = f"{clicks.unreadable} lines are no clicks and were left out"
        index.ledger.runs.add_problems(generation.run_id, [Problem(url=CLICK_FILE, reason=reason)])
    graph = index.graph.at(number)
    links = graph.scan_edges(kinds=[EdgeKind.LINKS_TO])
    docs = graph.nodes(index.ledger.generations.live(number).keys())
    kinds = {doc.id: kind for doc in docs if (kind := _kind(doc)) is not None}
    index.authority.put(number, weigh_documents(kinds, links, clicks.by_document))


def _kind(doc: Node) -> str | None:
    """What a document is compared with; None for one that has no authority."""
    match doc:
        case Page(page_kind=PageKind.CONTENT):
            return doc.document_kind
        case PdfDoc():
            return DocumentKind.PDF
        case _:
            return None
