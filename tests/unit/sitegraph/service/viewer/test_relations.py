"""What stands around a document."""

from types import SimpleNamespace
from typing import Any, cast

from indexes.wiring import Readers
from schemas.edges import Edge, EdgeKind, EvidenceRole, LinkPosition, plain_edge
from schemas.nodes import Chunk, Tool
from sitegraph.service.viewer.document import Relations, read_relations
from tests.fakes.services import names, services_documents
from tests.fakes.small_index import SOURCE, Document, SmallIndex, build_index, link, page


def readers_of(index: SmallIndex) -> Readers:
    return cast("Readers", SimpleNamespace(chunks=index.chunks, graph=index.graph))


def edge(kind: EdgeKind, src: str, dst: str, chunk: Chunk, **fields: Any) -> Edge:
    made = plain_edge(kind, src, dst, doc=chunk.doc, source=SOURCE)
    return Edge(**{**{name: getattr(made, name) for name in Edge.__slots__}, **fields})


def around(documents: tuple[Document, ...], edges: tuple[Edge, ...], doc: Document) -> Relations:
    found = read_relations(readers_of(build_index(documents, edges)), doc[1][0].doc, doc[1])
    assert found is not None
    return found


HERE = page("here", {"Here": "Seals are kept in the tower.", "Below": "Nobody goes below."})
THERE = page("there", {"There": "Seals are kept in a tower."})
MENU = page("menu", {"Menu": "All pages."})


def test_links_in_texts_are_told_with_their_words_and_navigation_is_counted() -> None:
    edges = (
        link(THERE[1][0], HERE[1][0], "the seals"),
        link(THERE[1][0], HERE[1][0], "seals again"),
        link(MENU[1][0], HERE[1][0], "Here", position=LinkPosition.NAV),
        link(HERE[1][0], HERE[1][0], "itself"),
    )
    found = around((HERE, THERE, MENU), edges, HERE)
    (one,) = found.linking
    assert (one.title, one.chunk) == ("There", THERE[1][0].id)
    assert set(one.words) == {"the seals", "seals again"}
    assert (found.navigation, found.more_linking) == (1, 0)


def test_passages_elsewhere_that_say_alike_come_with_the_nearest_here() -> None:
    near, far = HERE[1]
    there = THERE[1][0]
    edges = (
        edge(EdgeKind.SIMILAR_TO, there.id, near.id, there, score=0.9),
        edge(EdgeKind.SIMILAR_TO, far.id, there.id, far, score=0.8),
        edge(EdgeKind.SIMILAR_TO, near.id, far.id, near, score=0.99),
    )
    (one,) = around((HERE, THERE), edges, HERE).alike
    assert (one.here, one.there, one.title, one.score) == (near, there, "There", 0.9)


def test_tools_that_are_defined_come_before_those_that_are_mentioned() -> None:
    tools = [
        Tool(id=f"tool:{name}", doc="tools:x", source=SOURCE, path="x", name=name, tool_type="command")
        for name in ("seal", "break")
    ]
    first, second = HERE[1]
    edges = (
        edge(EdgeKind.EXPLAINED_BY, "tool:break", first.id, first, role=EvidenceRole.MENTIONS),
        edge(EdgeKind.EXPLAINED_BY, "tool:seal", str(second.section_id), second, role=EvidenceRole.DEFINES),
        edge(EdgeKind.EXPLAINED_BY, "tool:seal", first.id, first, role=EvidenceRole.MENTIONS),
    )
    found = around((((*HERE[0], *tools), HERE[1]),), edges, HERE)
    assert [(one.name, one.defines, one.chunk) for one in found.defined] == [
        ("seal", True, second.id),
        ("break", False, first.id),
    ]


def test_a_document_defines_the_names_it_has() -> None:
    documents, edges = services_documents()
    redis = next(found for found in documents if found[1][0].section == "Redis")
    found = around(documents, edges, redis)
    assert [(one.name, one.kind, one.defines) for one in found.defined] == [("Redis", "document", True)]
    assert names("Redis", redis[1][0]) in edges


def test_without_the_graph_nothing_is_known() -> None:
    index = build_index((HERE,), ())
    readers = cast("Readers", SimpleNamespace(chunks=index.chunks, graph=None))
    assert read_relations(readers, HERE[1][0].doc, HERE[1]) is None
