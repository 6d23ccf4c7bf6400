"""What joins the candidates under the caps and the filters."""

from retrieval.graph.expansion import PER_NODE, expand_seeds
from retrieval.question.query import build_query, parse_filters
from retrieval.retriever import Retriever
from schemas.edges import EdgeKind, plain_edge
from tests.fakes.small_index import AS_OF, GENERATION, SOURCE, build_index, page


def siblings(count: int) -> tuple[list[object], list[object]]:
    document = page("limits", {"Top": "zebra", **{f"Limits {n}": f"zebra limit {n}" for n in range(count)}})
    rows = document[1]
    top = rows[0].section_id or ""
    edges = [
        plain_edge(EdgeKind.PARENT_OF, top, row.section_id or "", doc=row.doc, source=SOURCE)
        for row in rows[1:]
    ]
    edges += [
        plain_edge(EdgeKind.CONTAINS, row.section_id or "", row.id, doc=row.doc, source=SOURCE)
        for row in rows
    ]
    return [document], edges  # type: ignore[return-value]


def test_at_most_five_join_by_one_seed_and_at_most_three_of_them_aside() -> None:
    documents, edges = siblings(9)
    index = build_index(documents, edges)  # type: ignore[arg-type]
    seed = index.rows[1]
    base = {seed.doc: {row.id: 0.5 for row in index.rows}}
    found = expand_seeds(
        index.chunks, index.graph, [seed], query="limits", wants_detail=True, measure=lambda docs: base
    )
    roles = sorted(one.role for one in found.joined.values())
    assert roles == ["parent", "sibling", "sibling", "sibling"]
    assert len(roles) <= PER_NODE
    assert not found.dense


def test_what_the_filters_leave_out_does_not_join() -> None:
    documents, edges = siblings(3)
    index = build_index(documents, edges)  # type: ignore[arg-type]
    found = expand_seeds(
        index.chunks,
        index.graph,
        [index.rows[1]],
        query="limits",
        wants_detail=False,
        measure=lambda docs: {},
    )
    assert found.joined == {}


def test_a_joined_chunk_shows_its_role_and_its_way_in_the_bundle() -> None:
    documents, edges = siblings(3)
    noise = [page(f"n{n:03}", {f"Zebra {n}": f"zebra zebra number {n}"}) for n in range(120)]
    index = build_index([*documents, *noise], edges)  # type: ignore[list-item,arg-type]
    retriever = Retriever(index.chunks, index.graph, index.encoder, generation=GENERATION, as_of=AS_OF)
    bundle = retriever.retrieve(build_query("zebra limit 1", top_k=50, filters=parse_filters([])))
    assert bundle.diagnostics["expanded"].keys() <= {"parent", "sibling", "child", "bridge"}
    for one in bundle.evidence:
        assert (one.role in {"parent", "sibling", "child", "bridge"}) == bool(one.path)
