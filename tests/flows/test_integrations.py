"""The retrievers for LangChain and LlamaIndex over an index that a run made, by what each framework asks."""

import asyncio
import inspect
import shutil
from pathlib import Path
from typing import Any, ClassVar

import pytest

import sitegraph as api
from tests.fakes.sitegraph_runs import Sitegraph

pytestmark = pytest.mark.server

SAMPLES = Path(__file__).parents[1] / "samples" / "formats"
QUESTION = "When is the lamp trimmed?"


@pytest.fixture(scope="module")
def index(sitegraph: Sitegraph, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("integrations")
    shutil.copytree(SAMPLES, folder / "papers")
    (folder / "papers.yaml").write_text("name: papers\nkind: files\nroots: [papers]\n")
    sitegraph.run(folder / "papers.yaml", folder / "index")
    return folder / "index"


def test_the_retriever_passes_the_tests_that_langchain_has_for_retrievers(index: Path) -> None:
    from langchain_tests.integration_tests import RetrieversIntegrationTests

    from sitegraph.integrations.langchain import SitegraphRetriever

    class Ours(RetrieversIntegrationTests):
        retriever_constructor = SitegraphRetriever
        retriever_constructor_params: ClassVar = {"index": str(index), "top_k": 4}
        retriever_query_example = QUESTION
        num_results_arg_name = "top_k"

    tests = [test for name, test in inspect.getmembers(Ours(), callable) if name.startswith("test_")]
    for test in tests:
        asked = {"retriever": SitegraphRetriever(index=str(index), top_k=4)}
        answer = test(**{name: asked[name] for name in inspect.signature(test).parameters})
        if inspect.isawaitable(answer):
            asyncio.run(answer)  # type: ignore[arg-type]
    assert len(tests) >= 4


def test_a_chain_of_langchain_cites_page_and_box(index: Path) -> None:
    from langchain_core.output_parsers import StrOutputParser
    from langchain_core.prompts import ChatPromptTemplate
    from langchain_core.runnables import RunnableLambda, RunnablePassthrough

    from sitegraph.integrations.langchain import SitegraphRetriever

    with api.open(index) as opened:
        retriever = SitegraphRetriever(index=opened, top_k=1, filters={"kind": "pdf"})
        prompt = ChatPromptTemplate.from_template("{context}\n\n{question}")
        chain = (
            {"context": retriever | _cite, "question": RunnablePassthrough()}
            | prompt
            | RunnableLambda(lambda asked: asked.to_string())
            | StrOutputParser()
        )
        said = chain.invoke(QUESTION)
        (found,) = retriever.invoke(QUESTION)
        retriever.close()
        assert opened.generation == found.metadata["generation"], "whoever opened it closes it"
    assert "The lamp is trimmed before dusk." in said
    assert "pdf.1.pdf p. 1 [" in said
    assert found.id == found.metadata["chunk_id"]
    x0, y0, x1, y1 = found.metadata["bbox"]
    assert (found.metadata["page"], x0 < x1, y0 < y1) == (1, True, True)


def _cite(documents: list[Any]) -> str:
    return "\n".join(f"{one.page_content} ({one.metadata['citation']})" for one in documents)


def test_a_query_engine_of_llamaindex_answers_with_sources(index: Path) -> None:
    from llama_index.core.llms import MockLLM
    from llama_index.core.query_engine import RetrieverQueryEngine

    from sitegraph.integrations.llamaindex import SitegraphNodeRetriever

    retriever = SitegraphNodeRetriever(index, top_k=2, filters={"kind": "pdf"})
    engine = RetrieverQueryEngine.from_args(retriever, llm=MockLLM())
    asked = engine.query(QUESTION)
    (found, *_) = asked.source_nodes
    retriever.close()
    assert "The lamp is trimmed before dusk." in found.node.get_content()
    assert found.node.metadata["citation"].startswith("pdf.1.pdf p. 1 [")
    shown = str(asked)  # the mock model repeats its prompt
    assert "citation: pdf.1.pdf p. 1 [" in shown
    assert "chunk_id" not in shown, "ids are of no use to a model"


def test_llamaindex_may_ask_in_an_event_loop_and_nodes_survive_json(index: Path) -> None:
    from llama_index.core.schema import TextNode

    from sitegraph.integrations.llamaindex import SitegraphNodeRetriever

    with api.open(index) as opened:
        found = asyncio.run(SitegraphNodeRetriever(opened, top_k=3).aretrieve(QUESTION))
    assert [TextNode.from_json(one.node.to_json()) for one in found] == [one.node for one in found]
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)
