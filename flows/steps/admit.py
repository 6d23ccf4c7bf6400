"""What seeds, sitemaps, links and redirects lead to comes into the ledger, as far as there is room."""

import threading
from collections.abc import Sequence
from dataclasses import replace

from flows.wiring import Pipeline
from schemas.documents import DocumentState, KnownDocument
from schemas.report import Problem

_ADMISSION = threading.Lock()
"""Two batches that count the room at once would both fill it."""


def admit(pipeline: Pipeline, found: Sequence[KnownDocument]) -> None:
    """Add new documents, first come first served, until `max_pages`; what was gone is looked at again.

    What finds no room is a problem of the run, so that nobody takes the source for complete.
    """
    documents, source = pipeline.index.ledger.documents, pipeline.source
    nearest = {target.uri: target for target in sorted(found, key=lambda t: -t.depth)}
    with _ADMISSION:
        known = documents.get(source.name, nearest.keys())
        gone = [k for k in known.values() if k.state is DocumentState.GONE and k.run_id != pipeline.run_id]
        documents.save([replace(k, state=DocumentState.NEW) for k in gone])
        new = [target for target in dict.fromkeys(t.uri for t in found) if target not in known]
        room = max(source.scope.max_pages - documents.count_awake(source.name), 0)
        documents.add_new([nearest[uri] for uri in new[:room]])
    if new[room:]:
        reason = f"max_pages {source.scope.max_pages} reached; {len(new) - room} documents not followed"
        pipeline.index.ledger.runs.add_problems(pipeline.run_id, [Problem(url=new[room], reason=reason)])
