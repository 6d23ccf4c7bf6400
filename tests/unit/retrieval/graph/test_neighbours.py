"""One hop between documents, by any way the graph knows."""

from dataclasses import replace

from indexes.ports import GraphReader
from retrieval.graph.spreading import find_ways
from schemas.edges import Edge, EdgeKind, LinkPosition, plain_edge
from schemas.ids import make_id
from schemas.nodes import Page
from tests.fakes.small_index import SOURCE, SmallIndex, build_index, link, page, typed

A, B, C = (page(name, {name.upper(): f"text {name}"}) for name in "abc")
(a,), (b,), (c,) = (document[1] for document in (A, B, C))


def index(*edges: Edge) -> SmallIndex:
    """Write the pages, a node for each entity that an edge has as an end, and the edges."""
    ends = sorted({end for edge in edges for end in (edge.src, edge.dst) if end.startswith("entity:")})
    entities = [Page(id=end, doc=end, source=SOURCE, title=end, content_hash="") for end in ends]
    return build_index([A, B, C, (tuple(entities), ())], edges)


def says(chunk_id: str, doc: str, name: str) -> Edge:
    return plain_edge(EdgeKind.MENTIONS, chunk_id, make_id("entity", name), doc=doc, source=SOURCE)


def bears(node: str, doc: str, name: str) -> Edge:
    return plain_edge(EdgeKind.NAMES, make_id("entity", name), node, doc=doc, source=SOURCE)


def test_links_and_typed_edges_lead_both_ways_and_typed_ones_come_first() -> None:
    found = index(link(a, b, "see b", fragment="b"), typed(EdgeKind.DEPENDS_ON, c, a))
    ways = find_ways(found.graph, [a.doc], {a.id: a.doc})
    assert [(way.dst, way.typed, way.fragment) for way in ways] == [(c.doc, True, None), (b.doc, False, "b")]
    back = find_ways(found.graph, [b.doc], {b.id: b.doc})
    assert [(way.dst, way.fragment) for way in back] == [(a.doc, None)]


def test_menus_lead_nowhere() -> None:
    found = index(link(a, b, "b", position=LinkPosition.NAV), link(a, c, "c", position=LinkPosition.FOOTER))
    assert find_ways(found.graph, [a.doc], {}) == ()


def test_a_name_said_and_the_document_that_has_it_are_one_hop_apart() -> None:
    found = index(says(a.id, a.doc, "B"), bears(b.doc, b.doc, "B"))
    (way,) = find_ways(found.graph, [a.doc], {a.id: a.doc})
    assert (way.src, way.dst, way.section) == (a.doc, b.doc, None)
    assert [(step.kind, step.chunk) for step in way.steps] == [("mentions", a.id), ("names", None)]
    (back,) = find_ways(found.graph, [b.doc], {b.id: b.doc})
    assert (back.src, back.dst) == (b.doc, a.doc)
    assert [step.kind for step in back.steps] == ["names", "mentions"]


def test_the_name_of_a_section_lands_on_it() -> None:
    section = b.section_id or ""
    found = index(says(a.id, a.doc, "part of B"), bears(section, b.doc, "part of B"))
    (way,) = find_ways(found.graph, [a.doc], {a.id: a.doc})
    assert (way.dst, way.section) == (b.doc, section)


def test_a_document_that_says_its_own_name_is_no_neighbour_of_itself() -> None:
    found = index(says(a.id, a.doc, "A"), bears(a.doc, a.doc, "A"), replace(link(a, a, "up"), chunk=None))
    assert find_ways(found.graph, [a.doc], {a.id: a.doc}) == ()


def test_any_number_of_documents_costs_four_calls() -> None:
    calls: list[str] = []
    found = index(says(a.id, a.doc, "B"), bears(b.doc, b.doc, "B"), says(c.id, c.doc, "B"))

    class Counted:
        """Counts the calls to a graph."""

        def __getattr__(self, name: str) -> object:
            calls.append(name)
            return getattr(found.graph, name)

    graph: GraphReader = Counted()  # type: ignore[assignment]
    assert len(find_ways(graph, [a.doc, b.doc, c.doc], {a.id: a.doc, b.id: b.doc, c.id: c.doc})) == 4
    assert len(calls) <= 4
