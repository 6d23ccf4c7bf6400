"""Ids as people type them."""

from dataclasses import replace

import pytest

from indexes.ports import GraphReader
from retrieval.question.ids import looks_like_id, resolve_node_id, states_kind
from schemas.errors import ConfigError
from schemas.nodes import NodeKind
from tests.fakes.graph_generations import publish
from tests.fakes.graph_samples import make_graph, make_page
from tests.fakes.memory_stores import MemoryGraphStore


@pytest.fixture
def reader() -> GraphReader:
    graph, store = make_graph(), MemoryGraphStore()
    publish(store, 1, [*graph.nodes, *(make_page(f"https://site.test/{n}") for n in range(300))], graph.edges)
    return store.at(1)


@pytest.fixture
def page(reader: GraphReader) -> str:
    return next(node.id for node in reader.scan_nodes() if node.id.startswith("page:"))


def test_a_node_is_found_by_its_id_without_its_kind_and_by_a_beginning(
    reader: GraphReader, page: str
) -> None:
    letters = page.removeprefix("page:")
    for typed in (page, letters, page[:13], letters[:8], page.upper()):
        assert resolve_node_id(reader, typed) == page


def test_a_beginning_that_several_ids_share_names_them() -> None:
    store = MemoryGraphStore()
    twins = [replace(make_page("https://site.test/"), id="page:abcd" + end * 22) for end in "xy"]
    publish(store, 1, twins, [])
    with pytest.raises(ConfigError, match=rf"begins several ids \({twins[0].id}, {twins[1].id}\); give more"):
        resolve_node_id(store.at(1), "abcd")


def test_a_slip_in_an_id_names_the_one_that_was_meant(reader: GraphReader, page: str) -> None:
    slip = page[:-1] + ("a" if page[-1] != "a" else "b")
    with pytest.raises(ConfigError, match=f"did you mean {page}"):
        resolve_node_id(reader, slip)


def test_only_nodes_of_the_kinds_asked_for_count(reader: GraphReader, page: str) -> None:
    with pytest.raises(ConfigError, match="no such chunk in this generation"):
        resolve_node_id(reader, page, kinds=(NodeKind.CHUNK,))


@pytest.mark.parametrize(
    ("typed", "may"), [("page:abcd", True), ("abcd", True), ("abc", False), ("b.md", False)]
)
def test_what_may_be_an_id(typed: str, may: bool) -> None:
    assert looks_like_id(typed) is may
    assert states_kind(typed) is typed.startswith("page:")
