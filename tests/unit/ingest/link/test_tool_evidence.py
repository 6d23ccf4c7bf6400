"""What in a passage says that it explains a tool."""

from dataclasses import replace

import pytest

from ingest.link.tool_evidence import WEIGHTS, Findings, ToolEvidence, split_path
from ingest.parse.document import ParseRequest, parse_document
from schemas.edges import EvidenceRole
from schemas.nodes import Chunk, Tool
from tests.fakes.tools import explain, make_passages, make_tool

_CART = make_tool("shop.Cart", tool_type="py:class")
_ADD = make_tool("shop.Cart.add", tool_type="py:method")
_OPEN = make_tool("shop open", tool_type="command", options=("--port", "--help"))
_GET = make_tool("get")
_TOOLS = (_CART, _ADD, _OPEN, _GET)


@pytest.mark.parametrize(
    ("path", "text", "ids", "tool", "reason"),
    [
        (("API",), "Puts an item in.", ("shop.Cart.add",), _ADD, "anchor"),
        (("shop open",), "Opens it.", (), _OPEN, "heading"),
        (("Get",), "Fetches it.", (), _GET, "heading"),
        (("The get builtin",), "Fetches it.", (), _GET, "heading"),
        (("Builtins",), "get [-f] [name]\nFetches it.", (), _GET, "signature"),
        (("Builtins",), "Fetches it.", ("index-get",), _GET, "anchor"),
        (("Name",), "put: Stores it.\n\nget: Fetches it.", (), _GET, "signature"),
        (("open",), "shop open DOOR\nOpens it.", (), _OPEN, "heading, first sentence, text"),
        (("API",), "class shop.Cart(items=()): A cart.", (), _CART, "signature, first sentence, code"),
        (("Calling Cart.add twice",), "It adds up.", (), _ADD, "in heading"),
        (("Day",), "With shop open you begin.", (), _OPEN, "first sentence, text"),
        (("Day",), "Begin.\n$ shop open", (), _OPEN, "code"),
        (("shop open", "Ports"), "Give --port a number.", (), _OPEN, "under heading, options"),
    ],
)
def test_each_kind_of_evidence_is_told_by_name(
    path: tuple[str, ...], text: str, ids: tuple[str, ...], tool: object, reason: str
) -> None:
    (edge,) = explain(_TOOLS, make_passages((path, text, ids)))
    assert [one.id for one in _TOOLS if one is tool] == [edge.src]
    assert edge.reason == reason


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (("Day",), "Get what you can get and get out."),
        (("Day",), "Give --port or --help to any command."),
        (("shop open", "History"), "Nothing to see."),
        (("Day",), "The shop opened, shops open."),
        (("How to get it",), "Ask."),
    ],
)
def test_prose_and_options_alone_explain_nothing(path: tuple[str, ...], text: str) -> None:
    assert explain(_TOOLS, make_passages((path, text, ()))) == []


def test_a_bare_signature_is_that_of_the_class_it_stands_under() -> None:
    passages = make_passages(
        (("API",), "class shop.Cart(items=()): A cart.", ()), (("API",), "add(item): Puts an item in.", ())
    )
    edge = next(edge for edge in explain(_TOOLS, passages) if edge.src == _ADD.id)
    assert (edge.role, edge.text) == (EvidenceRole.DEFINES, "add(item): Puts an item in.")


@pytest.mark.parametrize(
    "line",
    ["shop-open - opens the doors", "shop open — opens the doors", "shop open: Opens.", "shop open [--port]"],
)
def test_the_entry_on_a_command_defines_it(line: str) -> None:
    (edge,) = explain(_TOOLS, make_passages((("NAME",), line, ())))
    assert (edge.src, edge.role, edge.text) == (_OPEN.id, EvidenceRole.DEFINES, line)


@pytest.mark.parametrize("line", ["get: Fetches.", "get - fetches", "shop open <port>", "shop open --port 9"])
def test_an_everyday_word_and_a_use_of_a_command_begin_no_entry(line: str) -> None:
    edges = explain(_TOOLS, make_passages((("Day",), f"See.\n{line}", ())))
    assert [edge.role for edge in edges if edge.role is EvidenceRole.DEFINES] == []


def test_however_often_a_tool_is_named_its_definition_comes_first() -> None:
    passages = make_passages(
        (("All on shop open", "Why shop open"), "Run shop open --port.\n$ shop open --help", ()),
        (("shop open",), "Opens the doors.", ()),
    )
    assert explain((_OPEN,), passages)[0].chunk == passages[1].id


def test_another_section_ends_a_class() -> None:
    passages = make_passages(
        (("API",), "class shop.Cart(items=()): A cart.", ()), (("Sums",), "add(item): Adds numbers.", ())
    )
    assert [edge.src for edge in explain(_TOOLS, passages)] == [_CART.id]


@pytest.mark.parametrize(
    "line", ["shop.Cart('milk')", "shop.Cart", "shop.Cart: it broke", "shop.Cart() is a class."]
)
def test_a_call_a_list_and_a_traceback_define_nothing(line: str) -> None:
    (edge,) = explain(_TOOLS, make_passages((("Day",), f"See.\n{line}", ())))
    assert (edge.role, edge.reason) == (EvidenceRole.MENTIONS, "code")


def test_an_id_counts_where_it_stands_and_not_in_the_passages_behind_it() -> None:
    passages = make_passages(
        (("API",), "Return type: None\n\nadd(item): Puts an item in.", ("shop.Cart", "shop.Cart.add")),
        (("API",), "It is said to be cheap.", ("shop.Cart.add",)),
    )
    assert [edge.chunk for edge in explain((_ADD,), passages)] == [passages[0].id]


def test_the_words_shown_stand_in_the_passage_and_are_few() -> None:
    text = "word " * 200 + "shop.Cart.add " + "word " * 200
    (edge,) = explain((_ADD,), make_passages((("Day",), text, ())))
    assert edge.text is not None
    assert edge.text in text
    assert "shop.Cart.add" in edge.text
    assert len(edge.text) <= 240


def test_more_evidence_is_surer_and_never_certain() -> None:
    findings = Findings()
    scores = []
    for kind in ToolEvidence:
        findings.add(kind)
        scores.append(findings.score)
    assert scores == sorted(scores)
    assert scores[0] == WEIGHTS[ToolEvidence.ANCHOR]
    assert scores[-1] < 1


def test_many_options_count_as_a_few() -> None:
    few, many = Findings(), Findings()
    for findings, number in ((few, 4), (many, 40)):
        for _ in range(number):
            findings.add(ToolEvidence.OPTIONS)
    assert few.score == many.score


def entry(headings: tuple[str, ...], entries: tuple[str, ...], text: str) -> tuple[Chunk, ...]:
    """A passage that stands in entries under a heading."""
    (passage,) = make_passages(((*headings, *entries), text, ()))
    return (replace(passage, section=headings[-1]),)


@pytest.mark.parametrize(
    ("entries", "text", "tool"),
    [
        (("get",), "get: get [-f] [name] Fetches it.", _GET),
        (("get, fetch",), "get, fetch: Fetches it.", _GET),
        (("get",), "get Fetches it.", _GET),
        (("shop.Cart", "add"), "add(item): Puts it in.", _ADD),
    ],
)
def test_the_entry_of_a_tool_defines_it_whatever_word_it_is(
    entries: tuple[str, ...], text: str, tool: Tool
) -> None:
    (edge,) = explain(_TOOLS, entry(("Builtins",), entries, text))
    assert (edge.src, edge.role) == (tool.id, EvidenceRole.DEFINES)
    assert "entry" in edge.reason
    assert edge.dst == edge.chunk


@pytest.mark.parametrize(
    ("entries", "text"),
    [
        (("complete", "get"), "get: Names of things to get."),
        (("get",), "If nothing is left, the get is over."),
        (("getter",), "getter: Gets."),
    ],
)
def test_a_value_of_another_entry_and_what_goes_on_with_one_define_nothing(
    entries: tuple[str, ...], text: str
) -> None:
    assert not [
        edge
        for edge in explain(_TOOLS, entry(("Builtins",), entries, text))
        if edge.role is EvidenceRole.DEFINES
    ]


PAGE = """<main><h1>Manual</h1><h2>open</h2><p>Doors and how they open.</p>
<dl><dt id="open">open</dt><dd><p>Opens the door that is named, and waits until it stands open.</p>
<p>A door that is locked stays as it is.</p></dd>
<dt id="shut">shut</dt><dd><p>Shuts it.</p></dd></dl>
<h2>Deep</h2><h3>Deep</h3><p>Words of a section that is called as the one above.</p></main>"""


def test_an_entry_may_be_called_as_its_section_is() -> None:
    fragment = parse_document(
        PAGE.encode(),
        ParseRequest(uri="https://manual.test/doors.html", source="site", content_type="text/html"),
        count_tokens=lambda text: 40 * len(text.split()),
    )
    parted = {split_path(chunk) for chunk in fragment.chunks}
    assert (("open",), ("open",)) in {(headings[-1:], entries) for headings, entries in parted}
    assert (("Deep", "Deep"), ()) in {(headings[-2:], entries) for headings, entries in parted}
