"""How an answer was found, as counts and notes: for people, and free of clocks."""

from collections import Counter
from collections.abc import Sized
from typing import Any

from retrieval.graph.reach import GraphResults, SearchResults
from retrieval.graph.spreading import Spread
from retrieval.ranking.selection import Selection
from schemas.evidence import Evidence, Query


def describe_walk(
    query: Query,
    *,
    found: SearchResults,
    reached: GraphResults,
    reranked: bool,
    candidates: Sized,
    selection: Selection,
    evidence: tuple[Evidence, ...],
) -> dict[str, Any]:
    """Return the counts of each step and a note for each departure from the full walk."""
    spread, known = reached.spread, found.known
    return {
        "seeds": {name.value: len(hits) for name, hits in found.lists.items()},
        "codes": {code: len(holders) for code, holders in known.holders.items()},
        "named_documents": list(known.documents),
        "unbound": list(known.unbound),
        "anchors": sorted(spread.anchors),
        "reached": len(spread.reached),
        "expanded": dict(sorted(Counter(one.role for one in reached.expansion.joined.values()).items())),
        "sub_queries": list(reached.sub_queries),
        "candidates": len(candidates),
        "relaxed": selection.relaxed,
        "shortened": sum(one.chunk.text != _text_of(one.chunk.id, evidence) for one in selection.chosen),
        "notes": _notes(query, spread, selection, evidence, reranked=reranked, dense=reached.expansion.dense),
    }


def _text_of(chunk_id: str, evidence: tuple[Evidence, ...]) -> str | None:
    return next((one.text for one in evidence if one.chunk_id == chunk_id), None)


def _notes(
    query: Query,
    spread: Spread,
    selection: Selection,
    evidence: tuple[Evidence, ...],
    *,
    reranked: bool,
    dense: bool,
) -> list[str]:
    dropped = len(selection.chosen) - len(evidence)
    return [
        note
        for applies, note in (
            (query.rerank and not reranked, "rerank: unavailable; the order is the blend's"),
            (
                query.use_graph and not spread.ran and spread.weight > 0,
                "too few links around the best documents: graph counts 0",
            ),
            (spread.weight == 0, "links lead nearly everywhere from the best documents: graph counts 0"),
            (dense, "too much around the best passages: only their own sections were looked at"),
            (spread.cut > 0, f"{spread.cut} linked documents beyond the cap were not looked at"),
            (selection.relaxed > 0, f"caps lifted for {selection.relaxed} passages"),
            (dropped > 0, f"{dropped} passages dropped by the token budget"),
        )
        if applies
    ]
