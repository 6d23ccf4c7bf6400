"""The wiki beside a real index: filed answers, and what a recrawl does to them."""

import json
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from indexes.wiring import Readers, open_readers
from retrieval.evidence import build_retriever
from retrieval.wiki.ask import WikiAnswer, answer_from_wiki
from retrieval.wiki.check import check_wiki
from retrieval.wiki.filing import GroundedSentence, file_answer
from retrieval.wiki.page import PageStatus
from retrieval.wiki.store import Wiki, wiki_folder
from schemas.evidence import Query
from schemas.nodes import Chunk
from tests.fakes.handbook import Handbook, path_of
from tests.fakes.sitegraph_runs import Sitegraph
from tests.fakes.wiki import LATER, NOW, Untouchable

pytestmark = pytest.mark.server

LOSING, KEEPING, SHARED = (
    "What happens when leases are lost?",
    "Where are vectors kept?",
    "Who keeps leases and vectors?",
)


def chunk_saying(readers: Readers, words: str) -> Chunk:
    (found,) = [chunk for chunk in readers.chunks.scan() if words in chunk.text]
    return found


def file_three_answers(wiki: Wiki, readers: Readers) -> None:
    losing = chunk_saying(readers, "When leases are lost")
    leases, vectors = (chunk_saying(readers, f"{name} are kept in") for name in ("Leases", "Vectors"))
    for query, *said in [
        (LOSING, ("The night porter rings the bell twice.", losing)),
        (KEEPING, ("Vectors are kept in the north wing.", vectors)),
        (SHARED, ("Their keepers do.", leases), ("They sit in the north wing.", vectors)),
    ]:
        statements = [GroundedSentence(text=text, chunks=(chunk.id,)) for text, chunk in said]
        filing = file_answer(
            wiki, readers.chunks, query, statements, verified=True, generation=readers.generation, now=NOW
        )
        assert filing.written


def asked(wiki: Wiki, readers: Readers, query: str, *, now: str) -> WikiAnswer:
    """Ask the wiki, then the index."""
    retrieve = partial(build_retriever(readers).retrieve, Query(text=query))
    return answer_from_wiki(wiki, readers, query, retrieve=retrieve, reranker=None, now=now)


def test_a_changed_source_page_makes_exactly_the_pages_that_rest_on_it_stale(
    sitegraph: Sitegraph, handbook: Handbook, source: Path, index: Path
) -> None:
    readers, wiki = open_readers(index, environment={}), Wiki(wiki_folder(index))
    file_three_answers(wiki, readers)
    untouched = replace(readers, graph=Untouchable())  # type: ignore[arg-type]
    for query in (LOSING, KEEPING, SHARED):
        assert asked(wiki, untouched, query, now=NOW).page is not None

    handbook.edit(path_of("Leases"), "Losing Leases", "Whoever loses leases pays the porter a silver coin.")
    assert sitegraph.run(source, index)["generation"] == 2
    after = open_readers(index, environment={})

    found = asked(wiki, after, LOSING, now=LATER)
    assert found.page is None
    assert found.verdicts[0].reasons == ("stale: 1 of 1 passages that it rests on changed",)
    assert any("silver coin" in one.text for one in found.bundle.evidence)
    looked, problems = check_wiki(wiki, after.chunks, after.graph, now=LATER)
    assert problems == ()
    assert {one.page.query for one in looked if one.trust.stale} == {LOSING}
    assert {page.query: page.status for page in wiki.list().pages} == {
        LOSING: PageStatus.STALE,
        KEEPING: PageStatus.CURRENT,
        SHARED: PageStatus.CURRENT,
    }
    for query in (KEEPING, SHARED):
        again = replace(after, graph=Untouchable())  # type: ignore[arg-type]
        assert asked(wiki, again, query, now=LATER).page is not None
    paid = chunk_saying(after, "silver coin")
    rebuilt = file_answer(
        wiki,
        after.chunks,
        LOSING,
        [GroundedSentence(text="Whoever loses leases pays a silver coin.", chunks=(paid.id,))],
        verified=True,
        generation=after.generation,
        now=LATER,
    )
    assert rebuilt.written
    assert asked(wiki, after, LOSING, now=LATER).text.startswith("Whoever loses")
    assert len(wiki.list().pages) == 3


def write_decision(folder: Path, number: str, title: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / f"{number.lower()}.md").write_text(
        f"---\nid: {number}\ntitle: {title}\ndoc_type: adr\ndepends_on: [GOV-0017]\n---\n\n"
        f"# {title}\n\n{title} depends on GOV-0017, the retention of records.\n"
    )


def ask_the_wiki(sitegraph: Sitegraph, index: Path, question: str) -> dict[str, Any]:
    done = sitegraph.call("ask", question, "--mode", "wiki", "--index", str(index), "--format", "json")
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def test_what_depends_on_a_document_is_answered_anew_after_one_more_does(
    sitegraph: Sitegraph, tmp_path: Path
) -> None:
    question, docs, index = "What depends on GOV-0017?", tmp_path / "docs", tmp_path / "index"
    docs.mkdir()
    (docs / "gov-0017.md").write_text(
        "---\nid: GOV-0017\ntitle: Retention of records\ndoc_type: policy\n---\n\n"
        "# Retention of records\n\nRecords are kept for seven years.\n"
    )
    source = tmp_path / "source.yaml"
    source.write_text("name: decisions\nkind: files\nroots: [docs]\n")
    write_decision(docs, "ADR-0031", "The archive format")
    sitegraph.run(source, index)

    _, again = (ask_the_wiki(sitegraph, index, question) for _ in range(2))
    assert "ADR-0031" in again["answer"]
    assert "ADR-0042" not in again["answer"]

    write_decision(docs, "ADR-0042", "The tape library")
    sitegraph.run(source, index)
    after = ask_the_wiki(sitegraph, index, question)
    assert "ADR-0031" in after["answer"]
    assert "ADR-0042" in after["answer"]
