"""What edges say as evidence: within the token budget, and without reading a long document whole."""

from collections.abc import Collection
from dataclasses import replace
from typing import Any

import pytest

from indexes.ports import ChunkReader
from retrieval.question.query import build_query, parse_filters
from retrieval.relations.evidence import add_relations
from retrieval.retriever import Retriever
from schemas.edges import EdgeKind
from schemas.evidence import ContextBundle
from schemas.nodes import Chunk
from tests.fakes.small_index import AS_OF, GENERATION, SmallIndex, build_index, page, pdf, typed

DEPENDENTS = 12
WORDS = " ".join(["The board of the harbour keeps the rule for every quay and every crane."] * 12)


@pytest.fixture(scope="module")
def index() -> SmallIndex:
    rule = page("gov-0001", {"Harbour rule": WORDS}, doc_id="GOV-0001")
    others = [
        page(f"adr-{n:04}", {f"Record {n}": f"Crane {n} keeps GOV-0001. {WORDS}"}, doc_id=f"ADR-{n:04}")
        for n in range(1, DEPENDENTS + 1)
    ]
    edges = [typed(EdgeKind.DEPENDS_ON, other[1][0], rule[1][0]) for other in others]
    return build_index((rule, *others), tuple(edges))


def related(
    index: SmallIndex, text: str, *, chunks: ChunkReader | None = None, **options: Any
) -> ContextBundle:
    retriever = Retriever(index.chunks, index.graph, index.encoder, generation=GENERATION, as_of=AS_OF)
    query = build_query(text, **options)
    return add_relations(retriever.retrieve(query), query, chunks or index.chunks, index.graph, index.encoder)


def tokens(index: SmallIndex, bundle: ContextBundle) -> int:
    return sum(index.encoder.count_tokens(one.text) for one in bundle.evidence)


@pytest.mark.parametrize("budget", [16, 60, 250, 600, 2500])
def test_evidence_added_for_relations_keeps_the_token_budget(index: SmallIndex, budget: int) -> None:
    bundle = related(index, "Which ADRs depend on GOV-0001?", token_budget=budget)
    assert 0 < tokens(index, bundle) <= budget
    assert [one.S for one in bundle.evidence] == [f"S{n}" for n in range(1, len(bundle.evidence) + 1)]
    assert [one.S for one in bundle.citations] == [one.S for one in bundle.evidence]


def test_edges_have_half_of_a_tight_budget_and_what_has_no_room_is_still_named(index: SmallIndex) -> None:
    bundle = related(index, "Which ADRs depend on GOV-0001?", token_budget=100)
    (relation,) = bundle.relations
    said = [one for one in bundle.evidence if one.entity]
    assert 40 < sum(index.encoder.count_tokens(one.text) for one in said) <= 50
    assert len(relation.hops) == DEPENDENTS
    assert {hop.S for hop in relation.hops} == {one.S for one in said} | {None}
    behind = {one.S: one.chunk_id for one in said}
    assert all(
        hop.chunk_id and behind.get(hop.S or "", hop.chunk_id) == hop.chunk_id for hop in relation.hops
    )


def test_an_edge_whose_line_was_cut_away_for_room_is_no_evidence() -> None:
    rules = [page(f"gov-{n:04}", {f"Rule {n}": "Text."}, doc_id=f"GOV-{n:04}") for n in range(1, 31)]
    crane = page("adr-0001", {"Crane record": WORDS}, doc_id="ADR-0001")
    edges = tuple(typed(EdgeKind.DEPENDS_ON, crane[1][0], rule[1][0]) for rule in rules)
    bundle = related(build_index((crane, *rules), edges), "What does ADR-0001 depend on?", token_budget=120)
    (relation,) = bundle.relations
    texts = {one.S: one.text for one in bundle.evidence}
    cited = [hop for hop in relation.hops if hop.S]
    assert 0 < len(cited) < len(relation.hops) == len(rules)
    for hop in cited:
        assert f"{hop.src_name} depends on {hop.dst_name}" in texts[hop.S or ""]


def test_hops_stand_in_the_order_of_their_chain() -> None:
    names = ("gov-0001", "gov-0002", "gov-0003")
    docs = [page(name, {f"Rule {name}": "Text."}, doc_id=name.upper()) for name in names]
    first, second, third = (doc[1][0] for doc in docs)
    edges = (typed(EdgeKind.DEPENDS_ON, third, second), typed(EdgeKind.DEPENDS_ON, second, first))
    small = build_index(tuple(docs), edges)
    (relation,) = related(small, "How are GOV-0001 and GOV-0003 related?").relations
    assert relation.chains == (
        "Rule gov-0003 --[depends_on]--> Rule gov-0002 --[depends_on]--> Rule gov-0001",
    )
    assert [hop.src_name for hop in relation.hops] == ["Rule gov-0003", "Rule gov-0002"]


class CountingReader:
    """A chunk reader that counts the chunks it gives."""

    def __init__(self, chunks: ChunkReader) -> None:
        self._chunks, self.given = chunks, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._chunks, name)

    def get(self, ids: Collection[str]) -> tuple[Chunk, ...]:
        return self._count(self._chunks.get(ids))

    def of_documents(self, docs: Collection[str]) -> tuple[Chunk, ...]:
        return self._count(self._chunks.of_documents(docs))

    def _count(self, found: tuple[Chunk, ...]) -> tuple[Chunk, ...]:
        self.given += len(found)
        return found


def test_how_a_long_pdf_begins_is_read_from_its_first_pages_alone() -> None:
    passages = [(n, f"Passage {n} on keels and hulls.") for n in range(1, 601)]
    nodes, chunks = pdf("shipyard manual", passages)
    rule = page("gov-0001", {"Harbour rule": "The rule."}, doc_id="GOV-0001")
    long = (_with_id(nodes, "GOV-0002"), _with_id(chunks, "GOV-0002"))
    small = build_index((rule, long), ())
    counting: Any = CountingReader(small.chunks)
    bundle = related(small, "How are GOV-0001 and GOV-0002 related?", chunks=counting, top_k=2)
    assert "Nothing in the index connects" in bundle.relations[0].text
    opening = {one.S: one.text for one in bundle.evidence}
    assert opening[bundle.relations[0].labels[1]] == "Passage 1 on keels and hulls."
    assert counting.given < 400


def test_a_page_filter_still_says_how_the_pages_that_it_leaves_begin() -> None:
    nodes, chunks = pdf("shipyard manual", [(n, f"Passage {n} on keels.") for n in range(1, 41)])
    rule = page("gov-0001", {"Harbour rule": "The rule."}, doc_id="GOV-0001")
    rule = (rule[0], tuple(replace(chunk, page_no=30) for chunk in rule[1]))
    small = build_index((rule, (_with_id(nodes, "GOV-0002"), _with_id(chunks, "GOV-0002"))), ())
    filters = parse_filters(["page_no=30"])
    bundle = related(small, "How are GOV-0001 and GOV-0002 related?", filters=filters)
    texts = {one.S: one.text for one in bundle.evidence}
    assert texts[bundle.relations[0].labels[1]] == "Passage 30 on keels."


def _with_id(rows: Collection[Any], doc_id: str) -> tuple[Any, ...]:
    return tuple(replace(row, doc_id=doc_id) if hasattr(row, "doc_id") else row for row in rows)
