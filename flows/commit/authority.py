"""Before step 9: what the links and the readers' clicks say of each document of a staged generation."""

from flows.run.index import Index
from indexes.stores.ledger.generations import Generation
from ingest.link.authority import weigh_documents
from ingest.urls import is_tools_url
from retrieval.learning.clicks import CLICK_FILE, count_clicks
from schemas.edges import EdgeKind
from schemas.report import Problem


def compute_authority(index: Index, generation: Generation) -> None:
    """Keep the authority of every page and PDF beside a generation that is about to be published.

    Never in rows nor in their hashes: one new link moves every value. Clicks count from the log as it is now.
    """
    number = generation.generation
    clicks = count_clicks(index.layout.root)
    if clicks.unreadable:
        reason = f"{clicks.unreadable} lines are no clicks and were left out"
        index.ledger.runs.add_problems(generation.run_id, [Problem(url=CLICK_FILE, reason=reason)])
    links = index.graph.at(number).scan_edges(kinds=[EdgeKind.LINKS_TO])
    live = index.ledger.generations.live(number)
    docs = [doc for doc, document in live.items() if not is_tools_url(document.uri)]
    index.authority.put(number, weigh_documents(docs, links, clicks.by_document))
