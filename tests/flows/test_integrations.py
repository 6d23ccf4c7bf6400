"""The retrievers for LangChain and LlamaIndex over a crawled site, by what each framework asks of a retriever."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnablePassthrough
from langchain_tests.integration_tests import RetrieversIntegrationTests
from llama_index.core.postprocessor import SimilarityPostprocessor
from llama_index.core.retrievers import QueryFusionRetriever
from llama_index.core.llms import MockLLM

import sitegraph
from sitegraph.integrations import langchain, llamaindex
from tests.fakes.handbook import serve_handbook, write_source
from tests.fakes.sitegraph_runs import Sitegraph

pytestmark = pytest.mark.server

LOST = "When leases are lost, the night porter rings the bell twice"


@pytest.fixture(scope="module")
def index(sitegraph: Sitegraph, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("integrations")
    with serve_handbook() as handbook:
        sitegraph.run(write_source(folder, handbook), folder / "index")
    return folder / "index"
