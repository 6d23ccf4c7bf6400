"""The graph's answer with what proves it."""

import pytest

from retrieval.wiki import subgraph
from retrieval.wiki.evidence import NOTHING_FOUND, GraphEvidence, gather_evidence
from retrieval.wiki.subgraph import NO_PATH, Chain
from tests.fakes.small_index import SmallIndex
from tests.fakes.wiki import OXFORD, people_index

NONE = Chain(nodes=(), edges=())
CONNECTED = "How is the Lease Daemon connected to the Oxford Site?"


def evidence_of(index: SmallIndex, query: str) -> GraphEvidence:
    return gather_evidence(index.chunks, index.graph, index.encoder, query)


def test_the_chain_is_a_real_path_with_document_chunk_and_words_behind_each_edge() -> None:
    index = people_index()
    record = evidence_of(index, CONNECTED).to_record()
    told, where = (next(row for row in index.rows if words in row.text) for words in ("maintained", "based"))
    assert record["evidence_chain"] == (
        "Lease Daemon --[is maintained by]--> Platform Group --[is based in]--> Oxford Site"
    )
    assert [(one["source_document"], one["chunk_id"], one["supporting_text"]) for one in record["chain"]] == [
        (told.doc, told.id, told.text),
        (where.doc, where.id, where.text),
    ]
    assert all(one in record["subgraph"]["edges"] for one in record["chain"])


def test_supporting_documents_hold_every_chunk_behind_an_edge_those_of_the_chain_first() -> None:
    record = evidence_of(people_index(), CONNECTED).to_record()
    shown = [one["chunk_id"] for doc in record["supporting_documents"] for one in doc["supporting_chunks"]]
    behind = {edge["chunk_id"] for edge in record["subgraph"]["edges"]} - {None}
    assert behind <= set(shown)
    assert len(shown) == len(set(shown))
    assert shown[:2] == [edge["chunk_id"] for edge in record["chain"]]
    assert [doc["doc_title"] for doc in record["supporting_documents"]][:2] == ["Lease Daemon", "Groups"]


def test_nothing_found_is_an_empty_subgraph_and_never_an_error() -> None:
    record = evidence_of(people_index(), "xyzzy plugh").to_record()
    assert record == {
        "query": "xyzzy plugh",
        "subgraph": {"nodes": {}, "edges": []},
        "supporting_documents": [],
        "evidence_chain": NOTHING_FOUND,
        "chain": [],
    }


def test_where_no_path_joins_the_seeds_the_chain_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subgraph, "MIN_CONFIDENCE", 0.99)
    found = evidence_of(people_index(), CONNECTED)
    assert OXFORD.id in found.subgraph.seeds
    assert found.chain_line == NO_PATH
    assert found.to_record()["chain"] == []


def test_the_passages_of_a_chain_come_in_its_order() -> None:
    found = evidence_of(people_index(), CONNECTED)
    assert [chunk.id for chunk in found.of_chain] == [edge.chunk for edge in (found.chain or NONE).edges]
    assert found.is_asked_for
