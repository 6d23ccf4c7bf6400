"""Documents that only the graph knows are told by rows that are whole."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from flows.run.damage import _unknown_documents
from indexes.ports import GraphReader
from schemas.nodes import Node
from tests.fakes.graph_generations import publish
from tests.fakes.graph_samples import make_page
from tests.fakes.memory_stores import MemoryGraphReader, MemoryGraphStore

KNOWN, FORGOTTEN = make_page("https://site.test/known"), make_page("https://site.test/forgotten")
INVENTED = replace(KNOWN, id="invented", doc="invented")


class Harmed:
    """A graph with a row that somebody invented, and does not fit its hash, or that cannot be read."""

    def __init__(self, held: MemoryGraphReader, *, readable: bool) -> None:
        self._held = held
        self._readable = readable

    def scan_nodes(self) -> Iterator[Node]:
        for node in self._held.scan_nodes():
            if node == INVENTED and not self._readable:
                raise KeyError("kind")
            yield node

    def damaged_rows(self) -> tuple[str, ...]:
        return (INVENTED.id,)

    def __getattr__(self, name: str) -> object:
        return getattr(self._held, name)


@pytest.fixture
def held() -> GraphReader:
    store = MemoryGraphStore()
    publish(store, 1, [KNOWN, FORGOTTEN, INVENTED])
    return store.at(1)


@pytest.mark.parametrize("readable", [True, False])
def test_a_row_that_is_not_whole_is_no_document_that_the_ledger_forgot(
    held: MemoryGraphReader, readable: bool
) -> None:
    graph: GraphReader = Harmed(held, readable=readable)  # type: ignore[assignment]
    assert _unknown_documents(graph, {KNOWN.id}) == (FORGOTTEN,)


def test_of_a_whole_graph_every_document_tells(held: GraphReader) -> None:
    assert {one.id for one in _unknown_documents(held, {KNOWN.id})} == {FORGOTTEN.id, INVENTED.id}
