"""The retrievers for LangChain and LlamaIndex over an index that a run made, by what each framework asks."""

import asyncio
import shutil
from pathlib import Path
from typing import Any

import pytest
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda, RunnablePassthrough
from langchain_tests.integration_tests import RetrieversIntegrationTests
from llama_index.core.llms import MockLLM
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import TextNode

import sitegraph as api
from sitegraph.integrations import langchain, llamaindex
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


class TestLangChain(RetrieversIntegrationTests):
    """LangChain's own tests of a retriever."""

    @pytest.fixture(autouse=True)
    def _index(self, index: Path) -> None:
        self.index = index

    @property
    def retriever_constructor(self) -> type[BaseRetriever]:
        return langchain.SitegraphRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        return {"index": str(self.index), "top_k": 4}

    @property
    def retriever_query_example(self) -> str:
        return QUESTION

    @property
    def num_results_arg_name(self) -> str:
        return "top_k"


def test_a_chain_of_langchain_cites_page_and_box(index: Path) -> None:
    with api.open(index) as opened:
        retriever = langchain.SitegraphRetriever(index=opened, top_k=1, filters={"kind": "pdf"})
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
    retriever = llamaindex.SitegraphNodeRetriever(index, top_k=2, filters={"kind": "pdf"})
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
    with api.open(index) as opened:
        found = asyncio.run(llamaindex.SitegraphNodeRetriever(opened, top_k=3).aretrieve(QUESTION))
    assert [TextNode.from_json(one.node.to_json()) for one in found] == [one.node for one in found]
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)
