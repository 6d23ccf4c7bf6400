"""Authority of a generation: from its links and from the clicks of its readers, kept as long as it is."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from flows.commit.publish import compute_authority
from flows.run.index import Index
from indexes.layout import IndexLayout, IndexManifest, ModelManifest
from ingest.link.authority import weigh_documents
from ingest.urls import tools_url
from retrieval.learning.usage_log import CLICK_FILE, log_click, log_folder
from schemas.edges import Edge, EdgeKind
from schemas.nodes import PageKind
from schemas.settings import Settings
from tests.fakes.graph_generations import publish as publish_graph
from tests.fakes.graph_samples import DIM, make_edge, make_page
from tests.fakes.ledger_rows import SITE, make_live, publish, put
from tests.fakes.linked_documents import links_among
from tests.fakes.memory_stores import MemoryChunkStore, MemoryGraphStore

PATHS = ("a", "b", "c")


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    """An index with its stores in memory."""
    model = ModelManifest(name="test", sha256="0" * 64, dim=DIM, max_tokens=256)
    manifest = IndexManifest(index_id="test", graph="lance", model=model)
    index = Index(layout=IndexLayout(tmp_path / "index"), manifest=manifest, settings=Settings())
    index.opened_chunks, index.opened_graph = MemoryChunkStore(dim=DIM), MemoryGraphStore()
    index.layout.root.mkdir()
    yield index
    index.close()


PAGES = {path: make_page(f"{SITE}/{path}") for path in PATHS}


def link(src: str, dst: str) -> Edge:
    """A link between two of the pages."""
    return make_edge(EdgeKind.LINKS_TO, PAGES[src], PAGES[dst])


def weigh(index: Index, *links: Edge) -> dict[str, float]:
    """Make a generation of the three pages with these links; give what is kept, by path."""
    base = index.ledger.generations.of_run("run-1")
    number = publish(
        index.ledger, *(put(make_live(path, "1")) for path in PATHS), base=base[-1].generation if base else 0
    )
    publish_graph(index.graph, number, list(PAGES.values()), links)
    generation = index.ledger.generations.get(number)
    assert generation is not None
    compute_authority(index, generation)
    values = index.authority.at(number).of([page.id for page in PAGES.values()])
    return {path: values[page.id] for path, page in PAGES.items()}


def test_every_document_has_the_authority_of_its_links(index: Index) -> None:
    links = [link("a", "b"), link("c", "b")]
    docs = {PAGES[path].id: "html" for path in PATHS}
    assert [weigh(index, *links)[path] for path in PATHS] == [
        weigh_documents(links_among(docs, links), {})[doc] for doc in docs
    ]


@pytest.mark.parametrize("kind", sorted(set(PageKind) - {PageKind.CONTENT}))
def test_a_page_that_is_no_content_has_no_authority_and_gives_none(index: Index, kind: PageKind) -> None:
    pages = [*(PAGES[path] for path in "ab"), replace(PAGES["c"], page_kind=kind)]
    number = publish(index.ledger, *(put(make_live(path, "1")) for path in PATHS), base=0)
    publish_graph(index.graph, number, pages, [link("c", "b"), link("a", "c")])
    generation = index.ledger.generations.get(number)
    assert generation is not None

    compute_authority(index, generation)

    assert index.authority.at(number).of([page.id for page in pages]) == dict.fromkeys(
        (PAGES["a"].id, PAGES["b"].id), 1.0
    )


def test_clicks_since_the_last_generation_count_in_the_next(index: Index) -> None:
    before = weigh(index)
    for _ in range(5):
        log_click(
            index.layout.root,
            doc=PAGES["c"].id,
            chunk_id="chunk:x",
            query="q",
            generation=1,
            timestamp="2026",
        )

    after = weigh(index)

    assert before == {"a": 1.0, "b": 1.0, "c": 1.0}
    assert after["c"] == 1.0 > after["a"] == after["b"]
    assert index.authority.at(1).of([PAGES["c"].id]) == {PAGES["c"].id: 1.0}, "the older one stays"


def test_lines_that_are_no_clicks_are_a_problem_of_the_run(index: Index) -> None:
    folder = log_folder(index.layout.root)
    folder.mkdir()
    (folder / CLICK_FILE).write_text("no click\n")

    weigh(index)

    (problem,) = index.ledger.runs.problems("run-1")
    assert (problem.url, problem.reason) == (CLICK_FILE, "1 lines are not clicks and were left out")


def test_files_of_tools_are_no_documents_that_one_could_visit(index: Index) -> None:
    tools = replace(make_live("tools", "1"), uri=tools_url("site", "tools.yaml"))
    number = publish(index.ledger, put(make_live("a", "1")), put(tools), base=0)
    publish_graph(index.graph, number, [PAGES["a"]])
    generation = index.ledger.generations.get(number)
    assert generation is not None

    compute_authority(index, generation)

    assert index.authority.at(number).of([tools.doc, PAGES["a"].id]) == {PAGES["a"].id: 1.0}
