"""The tests that the requirement spec of the command line lists, by its own names (seed PRD-0008)."""

import json
import os
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from retrieval.bundle.render import to_rows
from retrieval.question.query import build_query, parse_filters
from retrieval.ranking.score import WEIGHTS, Scored
from retrieval.ranking.selection import merge_by_id
from retrieval.retriever import Retriever
from schemas.evidence import ContextBundle, Evidence, Origin, PathStep, Scores
from tests.fakes.governance import governance_documents, governance_index
from tests.fakes.small_index import AS_OF, GENERATION, SmallIndex, build_index, page

GOLDEN = Path(__file__).parents[2] / "golden" / "rows_of_a_fixed_query.json"


@pytest.fixture(scope="module")
def index() -> SmallIndex:
    return governance_index()


def retriever(index: SmallIndex) -> Retriever:
    return Retriever(index.chunks, index.graph, index.encoder, generation=GENERATION, as_of=AS_OF)


def ask(index: SmallIndex, text: str, *filters: str, **options: Any) -> ContextBundle:
    return retriever(index).retrieve(build_query(text, filters=parse_filters(filters), **options))


def files(evidence: Sequence[Evidence]) -> list[str]:
    return [one.file_path or "" for one in evidence]


@pytest.mark.parametrize(
    ("filters", "kept"),
    [
        (("doc_type=adr",), {"adr-0031.md"}),
        (("doc_type=adr", "doc_type=governance"), {"adr-0031.md", "gov-0017.md", "prd-0008.md"}),
        (("doc_type=governance", "lifecycle=draft"), {"prd-0008.md"}),
        (("last_modified>=2025-08-01",), {"gov-0017.md"}),
        (("last_modified>=2025-08-05",), set()),
        (("last_modified=<=2025-08-04",), {"gov-0017.md"}),
        (("recency=181d",), {"gov-0017.md"}),
        (("recency=179d",), set()),
        (("recency=10d", "recency=400d"), {"gov-0017.md"}),
        (("pdf_page=3",), {"paper.pdf"}),
        (("source=manual", "doc_type=nothing"), set()),
    ],
)
def test_vector_retrieval_with_filters(index: SmallIndex, filters: tuple[str, ...], kept: set[str]) -> None:
    for use_graph in (False, True):
        bundle = ask(index, "GOV-0017 retention backup archive tape", *filters, use_graph=use_graph, top_k=50)
        assert set(files(bundle.evidence)) == kept


def test_graph_neighbour_retrieval(index: SmallIndex) -> None:
    bundle = ask(index, "GOV-0017", only_named=True)
    assert files(bundle.evidence) == ["gov-0017.md", "gov-0017.md", "adr-0031.md", "prd-0008.md"]
    found = {one.file_path: one for one in bundle.evidence}
    assert [found[name].source for name in ("gov-0017.md", "adr-0031.md", "prd-0008.md")] == [
        Origin.VECTOR,
        Origin.GRAPH,
        Origin.GRAPH,
    ]
    assert found["adr-0031.md"].path[0].kind == "depends_on"
    assert ask(index, "GOV-9999", only_named=True).evidence == ()
    alone = ask(index, "GOV-0017", only_named=True, use_graph=False)
    assert files(alone.evidence) == ["gov-0017.md", "gov-0017.md"]
    assert [one.S for one in alone.citations] == ["S1", "S2"]
    down = Retriever(
        index.chunks, None, index.encoder, generation=GENERATION, as_of=AS_OF, degraded=("graph",)
    )
    degraded = down.retrieve(build_query("GOV-0017", only_named=True))
    assert (files(degraded.evidence), degraded.degraded) == (files(alone.evidence), ("graph",))
    asked = ask(index, "What depends on GOV-0017?", top_k=2)
    assert len(asked.evidence) == 2
    assert asked.evidence[1].path


def row(name: str, score: float, *, kind: str | None = None) -> Scored:
    """A passage of a document of its own; with *kind*, one that an edge leads to."""
    _, (chunk,) = page(name, {"Backup": "Take one every night."})
    path = (PathStep(src="page:x", kind=kind, dst=name),) if kind else ()
    scores = Scores(text=score / WEIGHTS.text)
    return Scored(chunk=replace(chunk, doc=name), scores=scores, path=path, source=Origin.VECTOR, role="rest")


def merged(found: Sequence[Scored], near: Sequence[Scored], top_k: int) -> list[tuple[str, str]]:
    rows = merge_by_id(found, near, boost=0.1, top_k=top_k)
    return [(one.chunk.doc, one.source.value) for one in rows]


def test_a_neighbour_passes_only_those_right_above_it_that_score_less() -> None:
    # As where a reranker, or a definition, has put one that scores less between.
    found = [row(name, score) for name, score in (("a", 0.9), ("far", 0.1), ("e", 0.85), ("n", 0.7))]
    assert merged(found, [row("n", 0.2, kind="depends_on")], 4) == [
        ("a", "vector"),
        ("far", "vector"),
        ("e", "vector"),
        ("n", "both"),
    ]


def test_neighbours_take_no_more_places_than_they_fill_and_keep_their_best_passage() -> None:
    best, edged = row("n", 0.6), replace(row("n", 0.5, kind="depends_on"), source=Origin.GRAPH)
    edged = replace(edged, chunk=replace(edged.chunk, id="chunk:n2"))
    other = row("o", 0.7, kind="depends_on")
    rows = merge_by_id([row("a", 0.9), other, best, edged], [edged, other], boost=0.01, top_k=4)
    assert [one.chunk.doc for one in rows] == ["a", "o", "n", "n"]
    assert rows[2].chunk.id == best.chunk.id


@pytest.mark.parametrize("top_k", range(1, 6))
@pytest.mark.parametrize("near", ["n", "na", "nx", "nax"])
def test_no_place_stays_empty_and_none_is_taken_twice(near: str, top_k: int) -> None:
    for docs in product("abn", repeat=5):
        rows = [row(doc, 1 - at / 20) for at, doc in enumerate(docs)]
        rows = [replace(one, chunk=replace(one.chunk, id=f"chunk:{at}")) for at, one in enumerate(rows)]
        joined = [row(doc, 0, kind="depends_on") for doc in near]
        shown = merge_by_id(rows, joined, boost=0.06, top_k=top_k)
        assert len({(one.chunk.doc, one.chunk.id) for one in shown}) == len(shown) == top_k
        best = {one.chunk.doc: one.chunk.id for one in reversed(rows[:top_k])}
        assert all(best[one.chunk.doc] == one.chunk.id for one in shown if one.lift)
        there = {one.chunk.doc for one in shown} & set(near)
        assert len(there) >= min(len(near), top_k // 2)


def test_merge_logic_and_deterministic_ordering(index: SmallIndex) -> None:
    found = [
        row(name, score) for name, score in (("a", 0.9), ("b", 0.5), ("c", 0.45), ("d", 0.4), ("e", 0.1))
    ]
    # Only `both` may rise, by the boost, and never past an equal; the others keep their order.
    assert merged(found, [row("c", 0.2, kind="depends_on")], 5) == [
        ("a", "vector"),
        ("c", "both"),
        ("b", "vector"),
        ("d", "vector"),
        ("e", "vector"),
    ]
    assert [doc for doc, _ in merged(found, [row("d", 0.2, kind="depends_on")], 5)] == list("abdce")
    # Neighbours that nothing else found follow, once each, on up to half of the places.
    near = [row(name, 0.2, kind="relates_to") for name in ("x", "b", "y", "z")]
    assert merged(found, near, 4) == [("a", "vector"), ("b", "both"), ("x", "graph"), ("y", "graph")]
    assert merged([], near, 4)[0] == ("x", "graph")
    assert merged(found, [], 3) == [("a", "vector"), ("b", "vector"), ("c", "vector")]
    documents, edges = governance_documents()
    turned = build_index(documents[::-1], edges[::-1])
    for text in ("What depends on GOV-0017?", "PRD-0008 and GOV-0017"):
        one, other = (json.dumps(to_rows(ask(which, text))) for which in (index, turned))
        assert one == other


def test_golden_output_schema_for_a_fixed_query(index: SmallIndex) -> None:
    rows = to_rows(ask(index, "What depends on GOV-0017?", "doc_type=governance", "doc_type=adr", top_k=5))
    text = json.dumps(rows, ensure_ascii=False, indent=1) + "\n"
    if os.environ.get("WRITE_GOLDEN") == "1":
        GOLDEN.parent.mkdir(exist_ok=True)
        GOLDEN.write_text(text, "utf-8")
    assert text == GOLDEN.read_text("utf-8"), "WRITE_GOLDEN=1 writes it again"
