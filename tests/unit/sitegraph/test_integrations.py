"""The retrievers of frameworks: several threads ask one, which opens its index once."""

import copy
import pickle
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from schemas.errors import ConfigError, SitegraphError
from schemas.evidence import EvidenceVersion
from sitegraph.integrations import shared
from sitegraph.integrations.langchain import SitegraphRetriever
from sitegraph.integrations.llamaindex import SitegraphNodeRetriever
from sitegraph.integrations.shared import evidence_metadata
from sitegraph.opened import OpenedIndex, open_index
from tests.unit.sitegraph.cli.conftest import folder

__all__ = ["folder"]

QUESTION = "How long are records kept?"
COUNT = 4

Batch = Callable[[Path], tuple[list[str], Callable[[], None]]]


@dataclass
class Openings:
    """Opens indexes, each once a second thread has come to open one, too, or has had time to."""

    opened: list[OpenedIndex] = field(default_factory=list)
    coming: int = 0
    together: threading.Event = field(default_factory=threading.Event)

    def __call__(self, index: Any) -> OpenedIndex:
        self.coming += 1
        if self.coming > 1:
            self.together.set()
        self.together.wait(0.5)
        found = open_index(index)
        self.opened.append(found)
        return found


def batch_langchain(index: Path) -> tuple[list[str], Callable[[], None]]:
    retriever = SitegraphRetriever(index=index, top_k=1)
    found = retriever.batch([QUESTION] * COUNT, config={"max_concurrency": COUNT})
    return [one.page_content for (one,) in found], retriever.close


def batch_llamaindex(index: Path) -> tuple[list[str], Callable[[], None]]:
    retriever = SitegraphNodeRetriever(index, top_k=1)
    with ThreadPoolExecutor(COUNT) as threads:
        found = list(threads.map(retriever.retrieve, [QUESTION] * COUNT))
    return [one.node.get_content() for (one,) in found], retriever.close


@pytest.mark.parametrize("batch", [batch_langchain, batch_llamaindex])
def test_threads_that_ask_together_open_one_index_which_closing_closes(
    batch: Batch, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    openings = Openings()
    closed: list[OpenedIndex] = []
    close = OpenedIndex.close

    def note(opened: OpenedIndex) -> None:
        closed.append(opened)
        close(opened)

    monkeypatch.setattr(shared, "open_index", openings)
    monkeypatch.setattr(OpenedIndex, "close", note)
    found, end = batch(folder)
    assert len(found) == COUNT
    assert all("seven years" in text for text in found)
    assert len(openings.opened) == 1
    end()
    assert closed == openings.opened


@pytest.mark.parametrize("make", [str, Path])
def test_a_retriever_of_langchain_takes_a_folder_as_text_or_as_a_path(
    folder: Path, make: Callable[[Path], str | Path]
) -> None:
    retriever = SitegraphRetriever(index=make(folder), top_k=1)
    assert retriever.index == make(folder)
    (found,) = retriever.invoke(QUESTION)
    retriever.close()
    assert "seven years" in found.page_content


@pytest.mark.parametrize("wanted", [1, "1"])
def test_retrievers_read_the_generation_that_is_asked_for(folder: Path, wanted: str | int) -> None:
    for kept, refused in (
        (SitegraphRetriever(index=folder, as_of=wanted), SitegraphRetriever(index=folder, as_of=9)),
        (SitegraphNodeRetriever(folder, as_of=wanted), SitegraphNodeRetriever(folder, as_of=9)),
    ):
        ask = "invoke" if isinstance(kept, SitegraphRetriever) else "retrieve"
        assert getattr(kept, ask)(QUESTION)
        with pytest.raises(ConfigError, match="generation 9 is not kept"):
            getattr(refused, ask)(QUESTION)
        kept.close()
        refused.close()


def test_one_question_to_langchain_may_be_about_another_version_or_time(folder: Path) -> None:
    retriever = SitegraphRetriever(index=folder)
    with pytest.raises(ConfigError, match="generation 9 is not kept"):
        retriever.invoke(QUESTION, as_of=9)
    with pytest.raises(SitegraphError, match="15"):
        retriever.invoke(QUESTION, version="15")
    retriever.close()


def test_a_document_of_a_manual_with_several_versions_says_its_own(folder: Path) -> None:
    opened = open_index(folder)
    found = opened.retrieve(QUESTION).evidence[0]
    opened.close()
    versions = EvidenceVersion(family="postgresql", version="15")

    assert evidence_metadata(replace(found, versions=versions), generation=1)["version"] == "15"
    assert "version" not in evidence_metadata(found, generation=1)


@pytest.mark.parametrize("another", [copy.deepcopy, lambda made: pickle.loads(pickle.dumps(made))])
def test_a_retriever_may_be_copied_and_sent_to_another_process(
    folder: Path, another: Callable[[Any], Any]
) -> None:
    chained, asked = SitegraphRetriever(index=str(folder), top_k=1), SitegraphNodeRetriever(folder, top_k=1)
    for first, ask in ((chained, "invoke"), (asked, "retrieve")):
        getattr(first, ask)(QUESTION)
        second = another(first)
        first.close()
        assert len(getattr(second, ask)(QUESTION)) == 1
        second.close()
