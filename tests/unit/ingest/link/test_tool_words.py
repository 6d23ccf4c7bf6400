"""Documents that a changed tool may matter to."""

import random
from collections.abc import Sequence
from dataclasses import replace

from ingest.link.explained_by import documents_naming
from schemas.nodes import Chunk, Tool
from tests.fakes.tools import DOC, explain, make_passages, make_tool

_TOOLS = (
    make_tool("shop.Cart", tool_type="py:class"),
    make_tool("shop.Cart.add", tool_type="py:method"),
    make_tool("shop.Till", tool_type="py:class"),
    make_tool("shop.Till.add", tool_type="py:method"),
    make_tool("shop.url_for", tool_type="py:function"),
    make_tool("shop open", tool_type="command", aliases=("open-shop",), options=("--port",)),
    make_tool("get"),
    make_tool("getCart", endpoints=("GET /carts/{id}",)),
)
_LINES = (
    "class shop.Cart(items=()): A cart.",
    "class shop.Till: A till.",
    "add(item): Puts it in.",
    "Cart.add is like Till.add().",
    "Use url_for and get().",
    "$ get milk",
    "shop open --port 9",
    "Prose without a name.",
    "GET /carts/:id gives one.",
)
_HEADINGS = ("API", "Day", "Shop open", "The get() function", "Notes", "open-shop(1)")
_IDS = ((), ("shop.Cart.add",), ("getCart",), ("shop-open", "get"))


def _document(seed: int) -> tuple[Chunk, ...]:
    draw = random.Random(seed)
    return make_passages(
        *(
            ((draw.choice(_HEADINGS),), "\n".join(draw.sample(_LINES, 2)), draw.choice(_IDS))
            for _ in range(draw.randint(1, 2))
        )
    )


def test_a_document_that_is_not_touched_keeps_its_edges_when_a_tool_comes_or_goes() -> None:
    untouched = 0
    for seed in range(300):
        draw, chunks = random.Random(seed), _document(seed)
        before = {tool for tool in _TOOLS if draw.random() < 0.7}
        after = before ^ {draw.choice(_TOOLS)}
        if DOC not in documents_naming(before ^ after, chunks):
            untouched += 1
            assert explain(sorted(before, key=_id), chunks) == explain(sorted(after, key=_id), chunks)
    assert untouched > 30


def test_a_method_that_makes_its_class_one_touches_what_stands_under_others() -> None:
    passages = make_passages(
        (("API",), "class shop.Till: A till.\nclass shop.Cart: A cart.\nlock(): Locks it.", ())
    )
    lock = make_tool("shop.Till.lock", tool_type="py:method")
    before = [*_TOOLS[::2], *_TOOLS[3::2], lock]
    assert _TOOLS[1] not in before
    assert explain(before, passages) != explain([*before, _TOOLS[1]], passages)
    assert documents_naming([_TOOLS[1]], passages) == {DOC}


def _id(tool: Tool) -> str:
    return tool.id


def _touches(tool: Tool, text: str, heading: Sequence[str] = ("Day",), ids: tuple[str, ...] = ()) -> bool:
    return bool(documents_naming([tool], make_passages((tuple(heading), text, ids))))


def test_words_of_the_name_anywhere_in_the_passage_touch_it() -> None:
    assert _touches(make_tool("shop.Cart.add"), "Then ADD it.")
    assert _touches(make_tool("shop open"), "It says.", heading=("Open the shop",))
    assert _touches(make_tool("url_for"), "It says.", ids=("url-for",))
    assert _touches(make_tool("x", endpoints=("GET /carts/{id}",)), "GET /carts/:any of them")
    assert not _touches(make_tool("shop open"), "The shop.")
    assert not _touches(make_tool("x", endpoints=("GET /carts/{id}",)), "GET a cart")


def test_only_documents_with_such_a_passage_are_given() -> None:
    (here,) = make_passages((("Day",), "shop open", ()))
    there = replace(here, doc="page:b", text="closed")
    assert documents_naming([_TOOLS[5]], [here, there]) == {DOC}
    assert documents_naming([], [here, there]) == frozenset()
