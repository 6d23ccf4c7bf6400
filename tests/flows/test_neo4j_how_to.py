"""What the page on Neo4j shows, run on a crawled index in a real server, with the packages of others."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.handbook import serve_handbook, write_source
from tests.fakes.neo4j_runs import remove_graph
from tests.fakes.neo4j_server import Neo4jServer, settings_of
from tests.fakes.neo4j_stores import query_session, vector_index_alone
from tests.fakes.prefect_server import PrefectServer
from tests.fakes.sitegraph_runs import sitegraph_on

pytestmark = [pytest.mark.system, pytest.mark.server, pytest.mark.neo4j]

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "query-neo4j.md").read_text("utf-8")
QUERIES = re.findall(r"^```cypher\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
PROGRAMS = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
LOST = "When leases are lost, the night porter rings the bell twice"


@pytest.fixture(scope="module")
def folder(
    prefect_server: PrefectServer, neo4j_server: Neo4jServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Path]:
    """Where `handbook-index` is, with vectors, while the settings that lead to its server are set."""
    folder = tmp_path_factory.mktemp("how-to")
    settings = {
        **settings_of(neo4j_server),
        "SITEGRAPH_NEO4J_EMBEDDINGS": "1",
    }
    with vector_index_alone(neo4j_server):
        index = folder / "handbook-index"
        with serve_handbook() as handbook:
            # Text that names another page, as prose does.
            handbook.edit(
                "/ledgers.html", "Who keeps them", "They stand beside the Night Guards, says Leases."
            )
            sitegraph_on(prefect_server, **settings).run(write_source(folder, handbook), index, graph="neo4j")
        with pytest.MonkeyPatch.context() as patch:
            for name, value in settings.items():
                patch.setenv(name, value)
            yield folder
        remove_graph(neo4j_server, index)


@pytest.fixture(scope="module")
def session(folder: Path, neo4j_server: Neo4jServer) -> Iterator[Any]:
    with query_session(neo4j_server) as opened:
        yield opened


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: " ".join(query.split())[:50])
def test_every_query_of_the_page_finds_something(query: str, session: Any) -> None:
    assert session.run(query).data()


@pytest.mark.parametrize("program", PROGRAMS, ids=["langchain-neo4j", "neo4j-graphrag"])
def test_every_program_of_the_page_finds_the_passage_that_answers(
    program: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)

    exec(compile(program, "query-neo4j.md", "exec"), {"__name__": "__main__"})

    assert LOST[:30] in capsys.readouterr().out


def test_each_retriever_of_both_packages_puts_the_passage_that_answers_first(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    names: dict[str, Any] = {"__name__": "__main__"}
    for program in PROGRAMS:
        # The driver stays open after the program, for what this test asks.
        kept_open = program.replace("with neo4j.", "if driver := neo4j.").replace(" as driver:", ":")
        exec(compile(kept_open, "query-neo4j.md", "exec"), names)

    question = names["question"]
    found = [names["chunks"].similarity_search(question, k=1, effective_search_ratio=10)[0].page_content]
    for retriever in ("by_meaning", "by_both", "with_page"):
        nearest = names[retriever].search(query_text=question, top_k=1, effective_search_ratio=10)
        found.append(nearest.items[0].content)
    names["driver"].close()
    assert [text for text in found if LOST not in text] == []
