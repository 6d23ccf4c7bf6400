"""Four ways to an answer over one small index, with a model and without one, and a model that misbehaves."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import pytest
from jsonschema import Draft202012Validator

from indexes.reader_parts import OnnxReranker, locate_reranker
from indexes.wiring import Readers
from ingest.fetch.completion import CompletionLimits, open_completion
from retrieval.ask import Asking, AskResult
from retrieval.ask_modes import AskMode
from retrieval.question.query import build_query, deny_list, parse_filters
from retrieval.wiki.store import Wiki
from retrieval.wiki.sufficiency import NO_JUDGE
from schemas.errors import ConfigError, QueryRefused
from schemas.records import to_record
from tests.fakes.governance import governance_index
from tests.fakes.llm_server import MISBEHAVIOURS, LlmServer, closed_url, say, serve_llm
from tests.fakes.small_index import AS_OF, GENERATION, build_index, page

SCHEMA = Draft202012Validator(
    json.loads((Path(__file__).parents[3] / "docs" / "reference" / "bundle.schema.json").read_text("utf-8"))
)
QUESTION = "How long are records kept?"
ANSWER = "Records are kept for seven years. After that they are destroyed."
NOW = "2026-02-01T09:00:00+00:00"
QUICK = CompletionLimits(seconds=20, tries=2, backoff=0.01)


@dataclass
class Heard:
    """Asks, and keeps what was logged and warned of."""

    readers: Readers
    wiki: Wiki
    logged: list[str] = field(default_factory=list)
    warned: list[str] = field(default_factory=list)

    def ask(
        self,
        question: str,
        mode: AskMode,
        *,
        url: str | None = None,
        limits: CompletionLimits = QUICK,
        **options: Any,
    ) -> AskResult:
        model = open_completion(url, model="small", api_key=None, limits=limits) if url else None
        asking = Asking(
            readers=self.readers,
            complete=model,
            log=self.logged.append,
            warn=self.warned.append,
            wiki=self.wiki,
            now=NOW,
            **options,
        )
        return asking.ask(build_query(question), mode)


@pytest.fixture(scope="module")
def readers() -> Readers:
    index = governance_index()
    return Readers(
        index=Path("memory"),
        manifest=cast(Any, None),
        generation=GENERATION,
        as_of=AS_OF,
        chunks=index.chunks,
        graph=index.graph,
        authority=cast(Any, None),
        encoder=index.encoder,
        reranker=OnnxReranker(locate_reranker()),
    )


@pytest.fixture
def heard(readers: Readers, tmp_path: Path) -> Heard:
    return Heard(readers, Wiki(tmp_path / "wiki"))


@pytest.fixture
def unranked(readers: Readers, tmp_path: Path) -> Heard:
    """Where the cross-encoder is not installed."""
    return Heard(replace(readers, reranker=None), Wiki(tmp_path / "wiki"))


@pytest.fixture(scope="module")
def server() -> Iterator[LlmServer]:
    with serve_llm() as running:
        yield running


@pytest.mark.parametrize("mode", AskMode)
def test_without_a_model_every_mode_answers_in_the_words_of_its_evidence(heard: Heard, mode: AskMode) -> None:
    asked = heard.ask(QUESTION, mode)
    assert (asked.mode, asked.answer.by, asked.answer.text) == (mode, "extract", f"{ANSWER} [S1]")
    assert asked.bundle.evidence[0].text.startswith(ANSWER)
    assert heard.logged
    assert heard.warned == []
    SCHEMA.validate(json.loads(json.dumps(to_record(asked.bundle))))


@pytest.mark.parametrize("mode", AskMode)
def test_a_model_words_the_answer_and_what_nothing_bears_out_is_dropped(
    heard: Heard, server: LlmServer, mode: AskMode
) -> None:
    server.script(say("They are kept for seven years [S1]. They are kept for nine years [S1]."))
    answer = heard.ask(QUESTION, mode, url=server.url).answer
    assert (answer.by, answer.text) == ("model", "They are kept for seven years. [S1]")
    assert [one.text for one in answer.dropped] == ["They are kept for nine years."]
    assert "Put the label of what supports it" in server.prompts()[-1]


@pytest.mark.parametrize("way", [*sorted(MISBEHAVIOURS), "no server"])
def test_a_model_that_misbehaves_is_a_warning_and_the_evidence_answers(
    unranked: Heard, server: LlmServer, way: str
) -> None:
    server.script(MISBEHAVIOURS.get(way, say("")))
    limits = replace(QUICK, seconds=0.3) if way in {"slow", "hanging"} else QUICK
    url = closed_url() if way == "no server" else server.url
    answer = unranked.ask("Records are kept", AskMode.PLAIN, url=url, limits=limits).answer
    assert (answer.by, answer.text) == ("extract", f"{ANSWER} [S1]")
    (warning,) = unranked.warned
    assert warning.startswith("answering without the model: http://127.0.0.1:")


def test_a_model_that_misbehaves_in_every_call_leaves_the_loop_to_the_rules(
    heard: Heard, server: LlmServer
) -> None:
    server.script(MISBEHAVIOURS["401"])
    question = "What does the document say on which ADR-0031 depends?"
    asked = heard.ask(question, AskMode.ITERATIVE, url=server.url, steps=2)
    assert asked.answer.by == "extract"
    assert any("rules decide" in note for note in asked.bundle.diagnostics["notes"])
    assert heard.warned


def test_a_model_that_says_nothing_is_a_warning(unranked: Heard, server: LlmServer) -> None:
    server.script(say(" \n"))
    assert unranked.ask(QUESTION, AskMode.PLAIN, url=server.url).answer.by == "extract"
    assert unranked.warned == ["answering without the model: its answer says nothing"]


def test_a_budget_that_is_used_up_is_a_warning(unranked: Heard, server: LlmServer) -> None:
    server.script(say("no"))
    answer = unranked.ask(QUESTION, AskMode.PLAIN, url=server.url, limits=replace(QUICK, tokens=10)).answer
    assert answer.by == "extract"
    assert "raise SITEGRAPH_LLM_TOKENS" in unranked.warned[0]
    assert server.asked == []


def test_a_model_that_asks_for_a_tool_is_told_that_none_is_run(heard: Heard, server: LlmServer) -> None:
    server.script(say('[TOOL lookup {"q": "records"}]'))
    answer = heard.ask(QUESTION, AskMode.PLAIN, url=server.url).answer
    assert answer.not_found
    assert heard.warned == ["the model asks to run lookup; no tool is run here"]


def test_a_judge_is_asked_after_each_sentence_that_the_rules_let_stand(
    heard: Heard, server: LlmServer
) -> None:
    server.script(say("They are kept for seven years [S1]."))
    heard.ask(QUESTION, AskMode.PLAIN, url=server.url)
    without = len(server.asked)
    server.script(say("They are kept for seven years [S1]."))
    heard.ask(QUESTION, AskMode.PLAIN, url=server.url, judge=True)
    assert (without, len(server.asked) > 1) == (1, True)


def test_without_the_cross_encoder_a_model_is_not_verified_and_that_is_said(
    unranked: Heard, server: LlmServer
) -> None:
    server.script(say("They are kept for seven years [S1]. Nobody knows why. Or not found."))
    answer = unranked.ask(QUESTION, AskMode.PLAIN, url=server.url).answer
    assert (answer.text, answer.verified) == ("They are kept for seven years. [S1]", False)
    assert [one.text for one in answer.dropped] == ["Nobody knows why."]
    assert unranked.warned == ["the answer is not verified: that takes the cross-encoder"]


def test_an_answer_that_is_not_verified_is_not_filed(unranked: Heard, server: LlmServer) -> None:
    server.script(say("They are kept for seven years [S1]."))
    unranked.ask(QUESTION, AskMode.WIKI, url=server.url)
    assert unranked.logged[-1] == "not filed: it is not verified"
    assert unranked.wiki.list().pages == ()


def test_without_the_cross_encoder_a_copied_sentence_is_an_answer_and_no_page(unranked: Heard) -> None:
    assert unranked.ask("Records are kept", AskMode.WIKI).answer.text == f"{ANSWER} [S1]"
    assert unranked.logged[-1] == f"not filed: {NO_JUDGE}"
    assert unranked.wiki.list().pages == ()


@pytest.mark.parametrize(
    ("question", "why"),
    [
        ("How long are records of leases kept in the cellar?", "it says no measure of what is asked"),
        ("What do records of leases in a cellar cost?", "as an answer the cross-encoder gives it"),
    ],
)
def test_a_true_sentence_that_does_not_answer_is_shown_and_not_filed(
    readers: Readers, tmp_path: Path, question: str, why: str
) -> None:
    text = "Records of leases are kept in the long cellar by the porter."
    lamps = page("lamps", {"Lamps": "Lamps cost a penny."})
    index = build_index([page("retention", {"Retention": text}), lamps], [])
    here = replace(readers, chunks=index.chunks, graph=index.graph, encoder=index.encoder)
    heard = Heard(here, Wiki(tmp_path / "wiki"))
    assert heard.ask(question, AskMode.WIKI).answer.text == f"{text} [S1]"
    assert heard.logged[-1].startswith(f"not filed: {why}")
    assert heard.wiki.list().pages == ()


def test_an_answer_of_which_something_was_dropped_is_not_filed(heard: Heard, server: LlmServer) -> None:
    server.script(say("Records are kept for seven years [S1]. Records are kept for nine weeks [S1]."))
    asked = heard.ask(QUESTION, AskMode.WIKI, url=server.url)
    assert [len(asked.answer.sentences), len(asked.answer.dropped)] == [1, 1]
    assert heard.logged[-1] == "not filed: it is not verified"
    assert heard.wiki.list().pages == ()


def test_an_answer_comes_although_it_cannot_be_filed(heard: Heard, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    heard.wiki.folder.mkdir()
    (heard.wiki.folder / "topic").symlink_to(tmp_path / "elsewhere")
    assert heard.ask(QUESTION, AskMode.WIKI).answer.text == f"{ANSWER} [S1]"
    assert heard.warned[-1].startswith(
        "the answer is not filed: topic/how-long-are-records-kept.md: is a link"
    )
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_an_answer_is_filed_in_the_wiki_and_comes_from_there_the_next_time(heard: Heard) -> None:
    first = heard.ask(QUESTION, AskMode.WIKI)
    second = heard.ask(QUESTION, AskMode.WIKI)
    assert [one.details["wiki"]["answered_from"] for one in (first, second)] == ["graph", "wiki"]
    assert (second.answer.by, second.answer.text) == ("wiki", first.answer.text)
    assert second.bundle.evidence[0].file_path == "gov-0017.md"
    assert heard.logged[-1] == "the wiki answers: topic/how-long-are-records-kept"


def test_a_filed_sentence_comes_back_whole_with_its_own_label_alone(readers: Readers, tmp_path: Path) -> None:
    index = build_index(
        [
            page("key", {"Great key": "The great key is kept by Dr. J. Porter, as [S2] says."}),
            page("maid", {"Small key": "The small key is kept by the maid."}),
        ],
        [],
    )
    here = replace(readers, chunks=index.chunks, graph=index.graph, encoder=index.encoder)
    heard = Heard(here, Wiki(tmp_path / "wiki"))
    first, second = (heard.ask("By whom is the great key kept?", AskMode.WIKI) for _ in range(2))
    assert [first.answer.by, second.answer.by] == ["extract", "wiki"]
    assert second.answer.text == first.answer.text
    assert second.answer.text.startswith("The great key is kept by Dr. J. Porter, as (S2) says. [S1]")
    assert all(one.S for one in second.answer.sentences)


def test_where_the_graph_cannot_be_asked_the_wiki_mode_answers_from_a_search(
    readers: Readers, tmp_path: Path
) -> None:
    asked = Heard(replace(readers, graph=None), Wiki(tmp_path)).ask(QUESTION, AskMode.WIKI)
    assert (asked.answer.text, asked.bundle.degraded) == (f"{ANSWER} [S1]", ("graph",))
    assert asked.details["wiki"]["evidence_chain"] == "The graph could not be asked."


def test_filters_do_not_go_with_pages(heard: Heard) -> None:
    asking = Asking(readers=heard.readers, complete=None, log=print, warn=print, wiki=heard.wiki, now=NOW)
    query = build_query(QUESTION, filters=parse_filters(["doc_type=adr"]))
    with pytest.raises(ConfigError, match="--filter: cannot be used with --mode wiki"):
        asking.ask(query, AskMode.WIKI)


def test_the_number_of_passages_holds_in_the_wiki_mode_too(heard: Heard) -> None:
    asking = Asking(readers=heard.readers, complete=None, log=print, warn=print, wiki=heard.wiki, now=NOW)
    bundle = asking.ask(build_query(QUESTION, top_k=1), AskMode.WIKI).bundle
    assert (len(bundle.evidence), len(bundle.citations)) == (1, 1)


def test_what_the_index_does_not_say_is_not_found_with_the_nearest_evidence(heard: Heard) -> None:
    answer = heard.ask("Who invented the piano?", AskMode.PLAIN).answer
    assert (answer.text, answer.not_found, answer.nearest) == ("not found", True, ("S1", "S2", "S3"))


@pytest.mark.parametrize("mode", AskMode)
def test_what_the_deny_list_names_is_answered_by_no_mode(heard: Heard, mode: AskMode) -> None:
    with pytest.raises(QueryRefused, match="piano"):
        heard.ask("Who invented the piano?", mode, policy=deny_list(["piano"]))
