"""Before step 9: what the links and the readers' clicks say of each document of a staged generation."""

from flows.derive.link_state import known_links
from flows.run.index import Index
from indexes.stores.ledger.generations import Generation
from ingest.link.authority import weigh_documents
from retrieval.learning.clicks import CLICK_FILE, count_clicks
from schemas.report import Problem


def compute_authority(index: Index, generation: Generation) -> None:
    """Keep the authority of every page and PDF beside a generation that is about to be published.

    Pages that are no content (indexes, lists of changes ...) have none and give none. Never in rows nor in
    their hashes: one new link moves every value. Clicks count from the log as it is now.
    """
    number = generation.generation
    clicks = count_clicks(index.layout.root)
    if clicks.unreadable:
        reason = f"{clicks.unreadable} lines are not clicks and were left out"
        index.ledger.runs.add_problems(generation.run_id, [Problem(url=CLICK_FILE, reason=reason)])
    index.authority.put(number, weigh_documents(known_links(index, number), clicks.by_document))
