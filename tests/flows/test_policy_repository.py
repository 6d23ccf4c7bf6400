"""Policies in Markdown through the real pipeline, and questions after their relations in every mode."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from indexes.wiring import Readers, open_readers
from retrieval.answering.answered import render_answer
from retrieval.ask import Asking, AskResult
from retrieval.ask_modes import AskMode
from retrieval.bundle.prompt import render_prompt
from retrieval.question.query import build_query, parse_filters
from retrieval.wiki.store import Wiki
from schemas.evidence import RelationHop
from tests.fakes.policy_repository import path_of, write_policies
from tests.fakes.sitegraph_runs import Sitegraph

pytestmark = [pytest.mark.system, pytest.mark.server]

FLOOR = 0.85
QUESTIONS: dict[str, list[dict[str, Any]]] = yaml.safe_load(
    (Path(__file__).parents[1] / "quality" / "policy_questions.yaml").read_text("utf-8")
)
NOW = "2026-01-01T00:00:00+00:00"


@pytest.fixture(scope="module")
def readers(sitegraph: Sitegraph, tmp_path_factory: pytest.TempPathFactory) -> Readers:
    """The index of the repository, read without the cross-encoder: what edges answer must not need it."""
    folder = tmp_path_factory.mktemp("policies")
    report = sitegraph.run(write_policies(folder / "papers"), folder / "index")
    assert report["documents"]["added"] == 26
    return replace(open_readers(folder / "index", environment={}), reranker=None)


def ask(readers: Readers, text: str, mode: AskMode, wiki: Path, *filters: str) -> tuple[AskResult, list[str]]:
    warned: list[str] = []
    asking = Asking(
        readers=readers,
        complete=None,
        log=lambda _: None,
        warn=warned.append,
        wiki=Wiki(wiki),
        now=NOW,
    )
    return asking.ask(build_query(text, filters=parse_filters(filters)), mode), warned


def end_of(hop: RelationHop, end: str) -> str:
    return getattr(hop, f"{end}_doc_id") or {"Papers of the library": "README"}[getattr(hop, f"{end}_name")]


def edges_of(asked: AskResult) -> set[str]:
    hops = [hop for relation in asked.bundle.relations for hop in relation.hops]
    return {f"{end_of(hop, 'src')} {hop.predicate or hop.kind} {end_of(hop, 'dst')}" for hop in hops}


def is_right(asked: AskResult, edges: list[str]) -> bool:
    """The answer shows these edges and no other, each cited at a passage of the document that states it."""
    evidence = {one.S: one for one in asked.bundle.evidence}
    cited = all(
        evidence[hop.S or ""].doc == hop.src and hop.S in sentence.labels
        for relation, sentence in zip(asked.bundle.relations, asked.answer.sentences, strict=True)
        for hop in relation.hops
    )
    labelled = all(sentence.S in evidence for sentence in asked.answer.sentences)
    return asked.answer.by == "graph" and labelled and cited and edges_of(asked) == set(edges)


def failed(readers: Readers, part: str, mode: AskMode, wiki: Path) -> list[str]:
    questions = QUESTIONS[part]
    asked = {one["text"]: ask(readers, one["text"], mode, wiki)[0] for one in questions}
    wrong = [one for one in questions if asked[one["text"]].answer.by != "graph"]
    told = [one for one in questions if asked[one["text"]].answer.by == "graph"]
    wrong += [one for one in told if not is_right(asked[one["text"]], one["edges"])]
    return [f"{one['text']} {asked[one['text']].answer.text}" for one in wrong]


@pytest.mark.long
def test_every_question_the_rules_were_made_with_is_answered_with_its_chain(
    readers: Readers, tmp_path: Path
) -> None:
    assert failed(readers, "development", AskMode.PLAIN, tmp_path) == []


@pytest.mark.parametrize(
    "mode",
    [
        AskMode.DUAL,
        *(pytest.param(mode, marks=pytest.mark.long) for mode in AskMode if mode != AskMode.DUAL),
    ],
)
def test_questions_no_rule_was_made_for_are_answered_with_their_chain_in_every_mode(
    readers: Readers, tmp_path: Path, mode: AskMode
) -> None:
    wrong = failed(readers, "held_out", mode, tmp_path)
    assert 1 - len(wrong) / len(QUESTIONS["held_out"]) >= FLOOR, wrong


@pytest.mark.parametrize("mode", [AskMode.DUAL, pytest.param(AskMode.WIKI, marks=pytest.mark.long)])
def test_no_edge_takes_over_a_question_after_something_else(
    readers: Readers, tmp_path: Path, mode: AskMode
) -> None:
    taken = [
        one["text"]
        for one in QUESTIONS["others"]
        if ask(readers, one["text"], mode, tmp_path)[0].answer.by == "graph"
    ]
    assert taken == []


@pytest.mark.parametrize("mode", AskMode)
def test_the_text_shows_the_sentence_the_chain_and_the_page_behind_each_hop(
    readers: Readers, tmp_path: Path, mode: AskMode
) -> None:
    asked, _ = ask(readers, "How are gov-0099 and ADR-0042 related?", mode, tmp_path)
    shown = render_answer(asked.answer, asked.bundle, width=200)

    assert "GOV-0099 depends on PRD-0008-intake-pipeline, which depends on ADR-0042. [S" in shown
    assert "GOV-0099 --[depends_on]--> PRD-0008-intake-pipeline --[depends_on]--> ADR-0042" in shown
    for doc_id in ("GOV-0099", "PRD-0008-intake-pipeline"):
        assert path_of(doc_id) in shown


def test_the_prompt_gets_the_chain_the_ids_and_how_each_passage_was_reached(
    readers: Readers, tmp_path: Path
) -> None:
    asked, _ = ask(readers, "How are GOV-0099 and ADR-0042 related?", AskMode.PLAIN, tmp_path)
    prompt = render_prompt(asked.bundle)

    assert "GOV-0099 --[depends_on]--> PRD-0008-intake-pipeline --[depends_on]--> ADR-0042 [S" in prompt
    assert "Document: GOV-0099" in prompt
    assert "Reached by: GOV-0099 --[depends_on]--> PRD-0008-intake-pipeline" in prompt


def test_what_joins_nothing_is_said_plainly_and_both_documents_are_cited(
    readers: Readers, tmp_path: Path
) -> None:
    asked, _ = ask(readers, "How are GOV-0021 and ADR-0042 related?", AskMode.DUAL, tmp_path)
    (sentence,) = asked.answer.sentences
    cited = {one.doc_id for one in asked.bundle.evidence if one.S in sentence.labels}

    assert sentence.text == "Nothing in the index connects GOV-0021 and ADR-0042."
    assert cited == {"GOV-0021", "ADR-0042"}


def test_an_id_that_names_nothing_is_said_to_and_one_may_be_cut_short(
    readers: Readers, tmp_path: Path
) -> None:
    asked, warned = ask(readers, "How are GOV-7777 and ADR-0042 related?", AskMode.PLAIN, tmp_path)
    assert warned == ["no document has the id GOV-7777"]
    assert asked.bundle.diagnostics["unbound"] == ["no document has the id GOV-7777"]
    assert asked.answer.not_found

    asked, warned = ask(readers, "What does prd-0008-int depend on?", AskMode.PLAIN, tmp_path)
    assert edges_of(asked) == {"PRD-0008-intake-pipeline depends_on ADR-0042"}
    assert warned == []


def test_an_answer_of_edges_is_read_from_the_graph_each_time_and_never_filed(
    readers: Readers, tmp_path: Path
) -> None:
    ask(readers, "Which documents depend on ADR-0042?", AskMode.WIKI, tmp_path)
    assert Wiki(tmp_path).list().pages == ()


def test_a_filter_that_keeps_a_passage_out_takes_its_chain_along(readers: Readers, tmp_path: Path) -> None:
    text = "How are GOV-0099 and ADR-0042 related?"
    asked, _ = ask(readers, text, AskMode.PLAIN, tmp_path, "doc_type=governance")
    assert edges_of(asked) == set()
    kept = ("doc_type=governance", "doc_type=requirements")
    asked, _ = ask(readers, text, AskMode.PLAIN, tmp_path, *kept)
    assert len(edges_of(asked)) == 2
