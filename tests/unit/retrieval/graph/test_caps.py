"""How much may join by one seed in each direction."""

from retrieval.graph.expansion import expand_seeds, go_by_links, go_by_tool, go_down
from retrieval.graph.surroundings import Surroundings, look_around
from schemas.edges import EdgeKind, plain_edge
from tests.fakes.small_index import SOURCE, build_index, link, page


def test_at_most_three_tables_or_examples_join_by_one_seed_and_only_where_details_are_asked_for() -> None:
    document = page("plans", {"Plans": "zebra", **{f"Plan {n}": f"zebra\tprice {n}" for n in range(6)}})
    rows = document[1]
    top = rows[0].section_id or ""
    edges = [plain_edge(EdgeKind.CONTAINS, top, row.id, doc=row.doc, source=SOURCE) for row in rows]
    index = build_index([document], edges)
    base = {rows[0].doc: {row.id: 0.5 for row in rows}}
    (step,) = go_down(look_around(index.graph, rows[:1]), rows[0])
    assert (step.limit, len(step.chunks)) == (3, 6)
    joined = {
        wanted: expand_seeds(
            index.chunks,
            index.graph,
            rows[:1],
            query="prices",
            wants_detail=wanted,
            measure=lambda docs: base,
        ).joined
        for wanted in (True, False)
    }
    assert [one.role for one in joined[True].values()] == ["child"] * 3
    assert not joined[False]


def test_at_most_three_links_of_a_document_are_followed() -> None:
    start = page("start", {"Start": "the start"})
    targets = [page(f"t{n}", {f"Target {n}": f"target {n}"}) for n in range(5)]
    index = build_index([start, *targets], [link(start[1][0], one[1][0], "fee tables") for one in targets])
    seed = start[1][0]
    assert len(list(go_by_links(look_around(index.graph, [seed]), seed, "fee tables"))) == 3


def test_at_most_two_other_passages_that_explain_a_tool_join() -> None:
    rows = [page(f"p{n}", {f"P {n}": f"text {n}"})[1][0] for n in range(5)]
    edges = tuple(
        plain_edge(EdgeKind.EXPLAINED_BY, "tool:price", row.id, doc=row.doc, source=SOURCE) for row in rows
    )
    found = Surroundings(seeds=(rows[0],), explained=edges[:1], leaving={"tool:price": edges})
    assert len(list(go_by_tool(found, rows[0]))) == 2
