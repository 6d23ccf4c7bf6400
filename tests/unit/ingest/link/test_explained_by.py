"""Edges from tools to what explains them."""

from collections.abc import Sequence
from dataclasses import replace

from ingest.link.explained_by import explained_by_edges
from ingest.link.tool_names import tool_names
from schemas.edges import EdgeKind, EvidenceRole
from schemas.nodes import Chunk, Tool
from tests.fakes.tools import DOC, explain, make_passages, make_tool

_OPEN = make_tool("shop open", tool_type="command")


def test_a_heading_that_is_the_name_leads_to_its_section() -> None:
    passages = make_passages((("shop open",), "Opens the doors.", ()), (("shop open",), "And the till.", ()))
    (edge,) = explain((_OPEN,), passages)
    assert (edge.kind, edge.src, edge.dst) == (EdgeKind.EXPLAINED_BY, _OPEN.id, passages[0].section_id)
    assert (edge.doc, edge.source, edge.chunk) == (DOC, "site", passages[0].id)
    assert (edge.role, edge.text) == (EvidenceRole.DEFINES, "Opens the doors.")
    assert edge.confidence == edge.score


def test_one_passage_of_a_document_defines_a_tool_and_the_others_mention_it() -> None:
    passages = make_passages(
        (("Day",), "First shop open is run.", ()),
        (("shop open",), "Opens the doors.", ()),
        (("Again: shop open",), "As above.", ("shop-open",)),
    )
    edges = explain((_OPEN,), passages)
    assert [edge.role for edge in edges] == [
        EvidenceRole.DEFINES,
        EvidenceRole.MENTIONS,
        EvidenceRole.MENTIONS,
    ]


def test_a_document_that_only_uses_a_tool_does_not_define_it() -> None:
    (edge,) = explain((_OPEN,), make_passages((("Day",), "First shop open is run.", ())))
    assert edge.role is EvidenceRole.MENTIONS


def test_a_tool_leads_to_a_few_passages_of_a_document() -> None:
    passages = make_passages(*((("Day", str(n)), f"On day {n}, shop open.", ()) for n in range(50)))
    edges = explain((_OPEN,), passages)
    assert {edge.chunk for edge in edges} == {chunk.id for chunk in passages[:4]}
    assert len(edges) == 4


def test_a_passage_that_names_everything_explains_a_few_tools_and_defines_many() -> None:
    tools = [make_tool(f"shop.f_{n}") for n in range(2_000)]
    listing = "\n".join(tool.name for tool in tools)
    assert len(explain(tools, make_passages((("Index",), listing, ())))) == 8
    ids = tuple(tool.name for tool in tools[:20])
    edges = explain(tools, make_passages((("Settings",), listing, ids)))
    assert sum(edge.role is EvidenceRole.DEFINES for edge in edges) == 20
    assert len(edges) == 28


def test_the_order_in_which_passages_and_tools_come_changes_nothing() -> None:
    tools = [_OPEN, make_tool("shop.Cart"), make_tool("get")]
    passages = make_passages(
        (("shop open",), "See shop.Cart and get().", ()), (("Day",), "shop.Cart(items) is run.", ("get",))
    )
    assert explain(tools, passages) == explain(tools[::-1], passages[::-1])


def test_vectors_are_asked_only_of_tools_that_say_what_they_are_for_and_only_add() -> None:
    asked: list[tuple[str, str]] = []

    def agree(pairs: Sequence[tuple[Tool, Chunk]]) -> list[bool]:
        asked.extend((tool.name, chunk.text) for tool, chunk in pairs)
        return [chunk.ordinal == 0 for _, chunk in pairs]

    tools = [replace(_OPEN, description="Opens the shop."), make_tool("url_for")]
    passages = make_passages(
        (("Day",), "Then shop open.", ()),
        (("Night",), "No shop open, no url_for.", ()),
        (("Noon",), "Eat.", ()),
    )
    plain = {edge.id: edge for edge in explain(tools, passages)}
    edges = explained_by_edges(passages, tool_names(tools), source="site", agree=agree)

    assert asked == [("shop open", "Then shop open."), ("shop open", "No shop open, no url_for.")]
    assert {edge.id for edge in edges} == plain.keys()
    (agreed,) = (edge for edge in edges if edge != plain[edge.id])
    assert (agreed.reason, agreed.chunk) == ("first sentence, agreement, text", passages[0].id)
    assert (agreed.score or 0) > (plain[agreed.id].score or 0)


def test_without_tools_there_are_no_edges() -> None:
    assert explain((), make_passages((("Day",), "shop open", ()))) == []


def test_a_passage_of_a_pdf_is_led_to_itself() -> None:
    (chunk,) = make_passages((("shop open",), "Opens the doors.", ()))
    in_pdf: Chunk = type(chunk)(**{f: getattr(chunk, f) for f in chunk.__slots__} | {"section_id": None})
    (edge,) = explain((_OPEN,), (in_pdf,))
    assert edge.dst == in_pdf.id


def test_an_endless_heading_is_not_read_anew_for_each_passage() -> None:
    heading = "shop open " * 50_000
    passages = make_passages(*(((heading, "Day"), f"Day {n}.", ()) for n in range(300)))
    assert not explain((_OPEN,), passages)
    passages = make_passages(*(((heading,), f"Day {n}.", ()) for n in range(300)))
    assert {edge.reason for edge in explain((_OPEN,), passages)} == {"in heading"}
