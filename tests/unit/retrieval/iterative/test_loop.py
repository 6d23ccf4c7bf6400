"""The loop itself: what each step does, when it ends, and what happens where something fails."""

from dataclasses import replace

import pytest

from retrieval.iterative.graph import linearise
from retrieval.iterative.loop import Iteration, dump_iteration, iterate, load_iteration, replay, start
from retrieval.iterative.state import READ_MAX, STEPS_MAX, LoopOutcome, LoopStep, State
from retrieval.question.query import build_query
from retrieval.retriever import Retriever
from schemas.errors import ConfigError, StoreUnavailable, TransientError
from schemas.evidence import ContextBundle, Query
from schemas.ids import canonical_json
from schemas.records import to_record
from tests.fakes.novels import (
    NOTHING,
    QUESTION,
    SUFFICIENT,
    Likes,
    ScriptedModel,
    ask,
    insufficient,
    novels_index,
    retriever_of,
)
from tests.fakes.small_index import SmallIndex

FITS, FITS_NOT = Likes(1.0), Likes(-1.0)


@pytest.fixture(scope="module")
def index() -> SmallIndex:
    return novels_index()


@pytest.fixture(scope="module")
def retriever(index: SmallIndex) -> Retriever:
    return retriever_of(index)


class Finding:
    """Retrieves as another does, but finds nothing for some queries; `asked` are all queries."""

    def __init__(self, retriever: Retriever, *, nothing_for: tuple[str, ...]) -> None:
        self._retriever, self._nothing_for = retriever, nothing_for
        self.asked: list[str] = []

    def retrieve(self, query: Query) -> ContextBundle:
        self.asked.append(query.text)
        bundle = self._retriever.retrieve(query)
        return replace(bundle, evidence=(), citations=()) if query.text in self._nothing_for else bundle


def names(run: Iteration) -> list[str]:
    return [one.name for one in run.state.view.entities]


def test_rules_read_judge_and_stop_as_soon_as_it_suffices(index: SmallIndex, retriever: Retriever) -> None:
    run = iterate(retriever, index.graph, ask(), reranker=FITS)
    assert (run.state.outcome, run.state.step) == (LoopOutcome.SUFFICIENT, 1)
    assert "[Silver Harbour -- links to -- Ada Quill]" in linearise(run.state.view)


def test_rules_ask_on_with_names_that_no_read_passage_is_about(
    index: SmallIndex, retriever: Retriever
) -> None:
    run = iterate(retriever, index.graph, ask(), reranker=FITS_NOT)
    assert "Port Almond" in " ".join(run.state.asked)
    assert "port-almond.md" in {one.evidence.file_path for one in run.state.read}


def test_there_are_never_more_than_four_steps(index: SmallIndex, retriever: Retriever) -> None:
    model = ScriptedModel([turn for n in range(9) for turn in (NOTHING, insufficient(f"missing {n}"))])
    run = iterate(retriever, index.graph, ask(), complete=model)
    assert (run.state.step, len(run.log)) == (STEPS_MAX, STEPS_MAX) == (4, 4)


def test_two_steps_are_the_fast_mode(index: SmallIndex, retriever: Retriever) -> None:
    run = iterate(retriever, index.graph, ask(), reranker=FITS_NOT, steps=2)
    assert (run.state.outcome, run.state.step) == (LoopOutcome.STEPS_SPENT, 2)


@pytest.mark.parametrize("steps", [0, 5])
def test_more_than_four_steps_are_refused(steps: int) -> None:
    with pytest.raises(ConfigError, match="must lie between 1 and 4"):
        start(QUESTION, steps=steps)


def test_a_step_reads_at_most_five_passages_and_only_new_ones(
    index: SmallIndex, retriever: Retriever
) -> None:
    run = iterate(retriever, index.graph, ask(top_k=12), reranker=FITS_NOT)
    read = [{one.chunk for one in step.seen.facts.mentions} for step in run.log]
    assert max(map(len, read)) == READ_MAX == 5
    assert sum(map(len, read)) == len(set().union(*read))


def test_a_single_hop_question_skips_the_loop(index: SmallIndex, retriever: Retriever) -> None:
    model = ScriptedModel([NOTHING])
    run = iterate(retriever, index.graph, ask("Who wrote Tin Lantern?"), complete=model)
    assert (run.state.outcome, run.state.step, model.asked) == (LoopOutcome.SINGLE_HOP, 1, [])
    assert run.state.passages[0].evidence.file_path == "tin-lantern.md"


def test_empty_retrieval_is_reformulated_once_from_names_and_attributes_of_the_graph(
    index: SmallIndex, retriever: Retriever
) -> None:
    finding = Finding(retriever, nothing_for=("nowhere to be found",))
    model = ScriptedModel([NOTHING, insufficient("nowhere to be found"), NOTHING, SUFFICIENT])
    run = iterate(finding, index.graph, ask(), complete=model, steps=2)
    assert finding.asked[:2] == [QUESTION, "nowhere to be found"]
    assert len(finding.asked) == 3
    assert finding.asked[2].startswith("Silver Harbour")
    assert run.log[1].seen.query == finding.asked[2]
    assert any("asked in words of the graph" in note for note in run.state.notes)


def test_an_empty_first_step_has_no_graph_to_reformulate_from(
    index: SmallIndex, retriever: Retriever
) -> None:
    finding = Finding(retriever, nothing_for=(QUESTION,))
    run = iterate(finding, index.graph, ask(), reranker=FITS)
    assert finding.asked == [QUESTION]
    assert run.state.outcome is LoopOutcome.NO_QUERY_LEFT


def test_an_entity_that_is_not_in_the_passages_is_dropped(index: SmallIndex, retriever: Retriever) -> None:
    told = '{"entities": [{"name": "Zorro", "kind": "person"}], "relations": []}'
    run = iterate(retriever, index.graph, ask(), complete=ScriptedModel([told, SUFFICIENT]), steps=1)
    assert "Zorro" not in {mention.name for mention in run.state.graph.mentions}
    assert run.state.dropped == 1


def test_sufficient_counts_only_with_a_path_from_the_subject_to_the_kind_of_answer(
    index: SmallIndex, retriever: Retriever
) -> None:
    question = ask("When did the publisher of Tin Lantern close its doors?")
    run = iterate(retriever, None, question, complete=ScriptedModel([NOTHING, SUFFICIENT]), steps=1)
    assert run.state.outcome is LoopOutcome.STEPS_SPENT
    assert any("sufficient too early" in note for note in run.state.notes)


def test_a_model_that_says_sufficient_with_a_path_ends_the_loop(
    index: SmallIndex, retriever: Retriever
) -> None:
    said = (
        '{"entities": [{"name": "Port Almond", "kind": "place"}], "relations": '
        '[{"subject": "Ada Quill", "predicate": "was born in", "object": "Port Almond", '
        '"text": "Ada Quill was born in Port Almond"}]}'
    )
    run = iterate(retriever, index.graph, ask(), complete=ScriptedModel([said, SUFFICIENT]))
    assert (run.state.outcome, run.state.step) == (LoopOutcome.SUFFICIENT, 1)
    assert "[Ada Quill -- was born in -- Port Almond]" in linearise(run.state.view)


def test_the_question_stands_in_every_prompt(index: SmallIndex, retriever: Retriever) -> None:
    model = ScriptedModel([NOTHING, insufficient("Ada Quill"), NOTHING, SUFFICIENT])
    iterate(retriever, index.graph, ask(), complete=model, steps=2)
    assert len(model.prompts) == 4
    assert all(QUESTION in prompt and "<graph>" in prompt for prompt in model.prompts)


def test_only_new_passages_are_given_to_be_read_and_all_to_be_judged(
    index: SmallIndex, retriever: Retriever
) -> None:
    model = ScriptedModel([NOTHING, insufficient("Port Almond Grey Coast"), NOTHING, SUFFICIENT])
    iterate(retriever, index.graph, ask(), complete=model, steps=2)
    _, _, reading, judging = model.prompts
    assert "Passage of: Port Almond" in reading
    assert "Passage of: Silver Harbour" not in reading
    assert "Passage of: Silver Harbour" in judging


@pytest.mark.parametrize(
    "broken", ["No tag.", "<judgement>maybe</judgement>", "<judgement>insufficient</judgement>"]
)
def test_a_missing_or_broken_tag_is_asked_for_once_more_then_rules_decide(
    index: SmallIndex, retriever: Retriever, broken: str
) -> None:
    model = ScriptedModel([NOTHING, broken, broken, NOTHING])
    run = iterate(retriever, index.graph, ask(), complete=model, steps=1)
    assert len(model.asked) == 3
    assert "step 1: no judgement in 2 answers of the model, rules decide" in run.state.notes


def test_a_tag_that_comes_with_the_second_answer_counts(index: SmallIndex, retriever: Retriever) -> None:
    model = ScriptedModel([NOTHING, "No tag.", insufficient("Port Almond")])
    run = iterate(retriever, index.graph, ask(), complete=model, steps=2)
    assert run.state.asked[:2] == (QUESTION, "Port Almond")


def test_facts_that_are_no_json_are_asked_for_once_more_then_rules_read(
    index: SmallIndex, retriever: Retriever
) -> None:
    model = ScriptedModel(["{", "[]", SUFFICIENT])
    run = iterate(retriever, index.graph, ask(), complete=model)
    assert run.state.outcome is LoopOutcome.SUFFICIENT
    assert "step 1: no facts in 2 answers of the model, rules decide" in run.state.notes
    assert "Port Almond" in names(run)


def test_a_model_that_fails_leaves_the_step_to_the_rules(index: SmallIndex, retriever: Retriever) -> None:
    model = ScriptedModel([TransientError("is busy", subject="model")])
    run = iterate(retriever, index.graph, ask(), reranker=FITS, complete=model)
    assert run.state.outcome is LoopOutcome.SUFFICIENT
    assert [note for note in run.state.notes if "model: is busy" in note] == [
        "step 1: no facts from the model, rules decide: model: is busy",
        "step 1: no judgement from the model, rules decide: model: is busy",
    ]


def test_a_sub_query_that_was_asked_before_ends_the_loop(index: SmallIndex, retriever: Retriever) -> None:
    model = ScriptedModel([NOTHING, insufficient(QUESTION.upper())])
    run = iterate(retriever, index.graph, ask(), complete=model)
    assert (run.state.outcome, run.state.step) == (LoopOutcome.NO_QUERY_LEFT, 1)


def test_two_steps_without_a_new_passage_end_the_loop(index: SmallIndex, retriever: Retriever) -> None:
    class Same:
        """Finds what the question finds, whatever is asked."""

        def retrieve(self, query: Query) -> ContextBundle:
            return retriever.retrieve(replace(query, text=QUESTION, top_k=5))

    model = ScriptedModel([NOTHING, insufficient("a"), insufficient("b"), insufficient("c")])
    run = iterate(Same(), index.graph, ask(), complete=model)
    assert (run.state.outcome, run.state.step) == (LoopOutcome.NOTHING_NEW, 3)


def test_the_index_s_own_graph_is_asked_before_a_new_one_is_built(
    index: SmallIndex, retriever: Retriever
) -> None:
    model = ScriptedModel([NOTHING, SUFFICIENT])
    iterate(retriever, index.graph, ask(), complete=model, steps=1)
    assert "[Silver Harbour -- links to -- Ada Quill]" in model.prompts[0]


def test_a_graph_that_is_gone_costs_a_note_and_no_answer(index: SmallIndex, retriever: Retriever) -> None:
    class Gone:
        """A graph that was there."""

        def __getattr__(self, name: str) -> object:
            raise StoreUnavailable("is gone", subject="graph")

    run = iterate(retriever, Gone(), ask(), reranker=FITS)  # type: ignore[arg-type]
    assert "step 1: the index's graph was not asked: graph: is gone" in run.state.notes
    assert "Ada Quill" in names(run)


def test_a_replay_of_the_log_gives_the_same_bytes(index: SmallIndex, retriever: Retriever) -> None:
    model = ScriptedModel([NOTHING, insufficient("Ada Quill"), "{", "{", "broken", "broken"])
    for run in (
        iterate(retriever, index.graph, ask(), complete=model, reranker=FITS_NOT, steps=3),
        iterate(retriever, index.graph, ask(), reranker=FITS_NOT),
        iterate(retriever, index.graph, ask("Who wrote Tin Lantern?")),
    ):
        again = replay(run.state.question, run.log, steps=run.state.steps)
        assert canonical_json(to_record(again)) == canonical_json(to_record(run.state))


def test_a_saved_run_is_resumed_where_it_stood(index: SmallIndex, retriever: Retriever) -> None:
    saved: list[str] = []

    def save(step: LoopStep, state: State) -> None:
        log = load_iteration(saved[-1]).log if saved else ()
        saved.append(dump_iteration(Iteration(state=state, log=(*log, step))))

    whole = iterate(retriever, index.graph, ask(), reranker=FITS_NOT, on_step=save)
    assert len(saved) == len(whole.log) > 2
    for text in saved:
        resumed = iterate(retriever, index.graph, ask(), reranker=FITS_NOT, resume=load_iteration(text))
        assert dump_iteration(resumed) == dump_iteration(whole)


def test_a_run_is_not_resumed_for_another_question(index: SmallIndex, retriever: Retriever) -> None:
    run = iterate(retriever, index.graph, ask(), reranker=FITS)
    with pytest.raises(ConfigError, match="another question"):
        iterate(retriever, index.graph, build_query("Who wrote Tin Lantern?"), resume=run)


def test_a_follow_up_counts_less_than_the_question(index: SmallIndex, retriever: Retriever) -> None:
    run = iterate(retriever, index.graph, ask(), reranker=FITS_NOT)
    first = {one.chunk_id: one.score for one in run.log[0].seen.bundle.evidence}
    late = [one for one in run.state.passages if one.evidence.chunk_id not in first]
    assert late
    assert all(one.score <= 0.75 * max(first.values()) for one in late)
    assert all(one.score >= first.get(one.evidence.chunk_id, 0) for one in run.state.passages)


def test_passages_of_two_generations_are_not_mixed(index: SmallIndex, retriever: Retriever) -> None:
    class Following:
        """Follows an index of which a generation is published at every question."""

        generation = 0

        def retrieve(self, query: Query) -> ContextBundle:
            self.generation += 1
            return replace(retriever.retrieve(query), generation=self.generation)

    with pytest.raises(StoreUnavailable, match="from generation 1 to 2"):
        iterate(Following(), index.graph, ask(), reranker=FITS_NOT)
