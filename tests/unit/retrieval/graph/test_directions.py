"""Which chunks around a seed join, by direction."""

from dataclasses import replace

import pytest

from indexes.ports import GraphReader
from retrieval.graph.expansion import go_aside, go_by_links, go_by_tool, go_to_similar, go_up, is_detail
from retrieval.graph.surroundings import NODES_MAX, Surroundings, look_around
from schemas.edges import Edge, EdgeKind, LinkPosition, plain_edge
from schemas.nodes import Chunk
from tests.fakes.small_index import SOURCE, SmallIndex, build_index, link, page

SECTIONS = {
    "Billing": "How billing works.",
    "Limits": "At most ten.",
    "Limits of plans": "Plans have limits.",
    "Exceptions": "None.",
}


def tree(index: SmallIndex) -> list[Edge]:
    """Page > top section > the others > their chunks."""
    rows = index.rows
    top, *below = [row.section_id or "" for row in rows if row.doc == rows[0].doc]
    doc = rows[0].doc
    edges = [plain_edge(EdgeKind.CONTAINS, doc, section, doc=doc, source=SOURCE) for section in (top, *below)]
    edges += [plain_edge(EdgeKind.PARENT_OF, top, section, doc=doc, source=SOURCE) for section in below]
    edges += [
        plain_edge(EdgeKind.CONTAINS, row.section_id or "", row.id, doc=doc, source=SOURCE)
        for row in rows
        if row.doc == doc
    ]
    return edges


@pytest.fixture(scope="module")
def index() -> SmallIndex:
    documents = [page("billing", SECTIONS), page("fees", {"Fees": "Fees of plans."})]
    bare = build_index(documents, [])
    source, target = documents[0][1][0], documents[1][1][0]
    menu = link(source, target, "All fees", position=LinkPosition.NAV)
    return build_index(documents, [*tree(bare), menu])


def by_heading(index: SmallIndex, heading: str) -> Chunk:
    return next(row for row in index.rows if row.section == heading)


def around(index: SmallIndex, heading: str) -> tuple[Surroundings, Chunk]:
    seed = by_heading(index, heading)
    return look_around(index.graph, [seed]), seed


def test_up_leads_to_the_section_above_and_shows_the_edge(index: SmallIndex) -> None:
    (step,) = go_up(*around(index, "Limits"))
    top = by_heading(index, "Billing")
    assert (step.role, step.chunks) == ("parent", (top.id,))
    assert [(one.kind, one.src) for one in step.path] == [("parent_of", top.section_id)]


def test_up_from_the_top_leads_nowhere_since_a_page_is_a_summary(index: SmallIndex) -> None:
    assert list(go_up(*around(index, "Billing"))) == []


def test_aside_leads_to_siblings_whose_headings_share_words(index: SmallIndex) -> None:
    steps = list(go_aside(*around(index, "Limits"), query="how much"))
    assert [step.chunks for step in steps] == [(by_heading(index, "Limits of plans").id,)]
    asked = list(go_aside(*around(index, "Limits"), query="are there exceptions"))
    assert (by_heading(index, "Exceptions").id,) in [step.chunks for step in asked]
    assert {step.role for step in asked} == {"sibling"}


def test_across_follows_a_menu_only_where_its_text_says_a_word_of_the_question(index: SmallIndex) -> None:
    (step,) = go_by_links(*around(index, "Limits"), query="what are the fees")
    assert (step.doc, step.path[0].kind) == (by_heading(index, "Fees").doc, "links_to")
    assert list(go_by_links(*around(index, "Limits"), query="who pays")) == []


def test_across_leads_to_similar_passages_and_not_to_copies() -> None:
    documents = [page(name, {name: f"text {name}"}) for name in ("a", "b", "c")]
    a, b, c = (one[1][0] for one in documents)
    edges = [
        replace(plain_edge(EdgeKind.SIMILAR_TO, a.id, other.id, doc=a.doc, source=SOURCE), score=score)
        for other, score in ((b, 0.9), (c, 0.97))
    ]
    index = build_index(documents, edges)
    (step,) = go_to_similar(look_around(index.graph, [a]), a)
    assert step.chunks == (b.id,)


def test_tools_lead_to_the_other_passages_that_explain_them() -> None:
    documents = [page(name, {name: f"text {name}"}) for name in ("a", "b")]
    a, b = (one[1][0] for one in documents)
    edges = [
        plain_edge(EdgeKind.EXPLAINED_BY, "tool:price", one.id, doc=one.doc, source=SOURCE) for one in (a, b)
    ]
    found = Surroundings(seeds=(a,), explained=(edges[0],), leaving={"tool:price": tuple(edges)})
    (step,) = go_by_tool(found, a)
    assert step.chunks == (b.id,)


def test_around_too_much_only_the_own_section_is_looked_at() -> None:
    crowded = page("crowded", {f"Part {n}": f"part {n}" for n in range(NODES_MAX + 1)})
    doc, rows = crowded[1][0].doc, crowded[1]
    parts = [row.section_id or "" for row in rows]
    index = build_index(
        [crowded], [plain_edge(EdgeKind.CONTAINS, doc, part, doc=doc, source=SOURCE) for part in parts]
    )
    found = look_around(index.graph, [crowded[1][0]])
    assert found.dense
    assert list(go_aside(found, crowded[1][0], query="part")) == []


def test_a_page_of_many_links_is_no_reason_to_follow_none() -> None:
    hub = page("hub", {"Hub": "the hub"})
    leaves = [page(f"p{n:04}", {f"Leaf {n}": f"leaf {n}"}) for n in range(NODES_MAX + 1)]
    links = [link(hub[1][0], one[1][0], f"leaf number {n}") for n, one in enumerate(leaves)]
    found = look_around(build_index([hub, *leaves], links).graph, [hub[1][0]])
    assert not found.dense
    first, *_ = go_by_links(found, hub[1][0], query="leaf number 1100")
    assert first.doc == leaves[1100][1][0].doc


def test_tables_code_and_captions_are_details(index: SmallIndex) -> None:
    plain = by_heading(index, "Limits")
    assert not is_detail(plain)
    assert is_detail(replace(plain, text="key\tvalue"))
    assert is_detail(replace(plain, code_languages=("python",)))
    assert is_detail(replace(plain, captions=("Figure 2",)))


def test_any_number_of_seeds_costs_five_calls(index: SmallIndex) -> None:
    calls: list[str] = []

    class Counted:
        """Counts the calls to a graph."""

        def __getattr__(self, name: str) -> object:
            calls.append(name)
            return getattr(index.graph, name)

    graph: GraphReader = Counted()  # type: ignore[assignment]
    look_around(graph, index.rows)
    assert len(calls) <= 5
