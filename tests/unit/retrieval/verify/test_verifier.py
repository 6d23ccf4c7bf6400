"""Answers against their evidence: one passage a sentence, what is not borne out goes, a judge may object."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from retrieval.bundle.prompt import parse_answer
from retrieval.verify.grounding import GroundingFaultKind
from retrieval.verify.verifier import VerifiedAnswer, verify_answer
from schemas.errors import FetchTimeout, TerminalError
from schemas.names import Complete, Message
from tests.fakes.plain_evidence import WordOverlap, plain_bundle

TEXTS = {
    "S1": "The lease of a worker expires after 90 seconds. Its job is handed to another worker.",
    "S2": "Logs of jobs are kept for 14 days in PostgreSQL.",
    "S3": "The lease of a license expires after a year.",
}
BUNDLE = plain_bundle(TEXTS)


class Logits:
    """Keeps the port Reranker by a logit for each passage, whatever is asked."""

    def __init__(self, *logits: float) -> None:
        self._logits = logits

    def score_pairs(self, query: str, texts: Sequence[str]) -> tuple[float, ...]:
        return self._logits


def verify(text: str, judge: Complete | None = None) -> VerifiedAnswer:
    return verify_answer(parse_answer(text, BUNDLE), BUNDLE, reranker=WordOverlap(), judge=judge)


def test_each_kept_sentence_has_one_label() -> None:
    found = verify("The lease of a worker expires after 90 seconds [S1][S2]. Logs are kept for 14 days [S2].")
    assert [(one.text, one.S) for one in found.kept] == [
        ("The lease of a worker expires after 90 seconds.", "S1"),
        ("Logs are kept for 14 days.", "S2"),
    ]
    assert (found.dropped, found.not_found, found.notes) == ((), False, ())
    assert found.text.endswith("Logs are kept for 14 days. [S2]")


@pytest.mark.parametrize(("logits", "label"), [((2.0, 2.4, 0.0), "S1"), ((2.0, 2.6, 0.0), "S2")])
def test_the_stated_label_stays_within_half_a_logit_of_the_best(
    logits: tuple[float, ...], label: str
) -> None:
    answer = parse_answer("Jobs are kept [S1].", BUNDLE)
    (kept,) = verify_answer(answer, BUNDLE, reranker=Logits(*logits)).kept
    assert label == kept.S


def test_a_label_that_is_not_in_the_evidence_is_replaced_by_the_best() -> None:
    (kept,) = verify("Logs of jobs are kept for 14 days [S9].").kept
    assert kept.S == "S2"


def test_a_sentence_of_which_no_evidence_speaks_is_dropped() -> None:
    found = verify("Logs are kept for 14 days [S2]. Bananas ripen quickly [S1].")
    (dropped,) = found.dropped
    assert [fault.kind for fault in dropped.faults] == [GroundingFaultKind.UNRELATED]
    assert [one.text for one in found.kept] == ["Logs are kept for 14 days."]


def test_a_number_of_another_passage_is_not_support() -> None:
    (dropped,) = verify("Logs of jobs are kept for 90 seconds in PostgreSQL [S2].").dropped
    assert (dropped.S, dropped.reason) == ("S2", "S2: 90 seconds is not in it")


def test_nothing_left_is_not_found() -> None:
    found = verify("Logs are kept for 15 days [S2].")
    assert (found.kept, found.not_found, found.text) == ((), True, "not found")


def test_that_something_was_not_found_is_neither_kept_nor_dropped() -> None:
    found = verify("Logs are kept for 14 days [S2]. The owner of the logs was not found.")
    assert found.unanswered == ("The owner of the logs was not found.",)
    assert (len(found.kept), found.dropped) == (1, ())


def test_without_evidence_all_is_dropped() -> None:
    empty = plain_bundle({})
    found = verify_answer(parse_answer("Logs are kept.", empty), empty, reranker=WordOverlap())
    assert (found.not_found, found.dropped[0].S, found.dropped[0].reason) == (
        True,
        None,
        "there is no evidence",
    )


def answering(answer: str) -> Complete:
    def complete(messages: Sequence[Message], schema: Mapping[str, Any]) -> str:
        return answer

    return complete


def test_a_judge_that_doubts_drops_what_the_rules_would_keep() -> None:
    judge = answering(json.dumps({"supported": False, "reason": "of another job"}))
    (dropped,) = verify("Logs of jobs are kept for 14 days [S2].", judge).dropped
    assert "the judge doubts it: of another job" in dropped.reason


def test_a_judge_that_agrees_saves_nothing_that_the_rules_drop() -> None:
    judge = answering(json.dumps({"supported": True, "reason": ""}))
    assert verify("Logs of jobs are kept for 15 days [S2].", judge).not_found
    assert len(verify("Logs of jobs are kept for 14 days [S2].", judge).kept) == 1


@pytest.mark.parametrize("answer", ["", "yes", "[]", '{"supported": "yes"}', "[" * 100_000])
def test_a_judge_that_answers_nonsense_leaves_it_to_the_rules_and_that_is_said(answer: str) -> None:
    found = verify(
        "Logs of jobs are kept for 14 days [S2]. Logs are kept for 15 days [S2].", answering(answer)
    )
    assert (len(found.kept), len(found.dropped), len(found.notes)) == (1, 1, 1)
    assert "rules alone decided" in found.notes[0]


@pytest.mark.parametrize("error", [FetchTimeout("too slow", subject="llm"), TerminalError("refused")])
def test_a_judge_that_fails_is_not_asked_again(error: Exception) -> None:
    asked: list[str] = []

    def complete(messages: Sequence[Message], schema: Mapping[str, Any]) -> str:
        asked.append(messages[-1]["content"])
        raise error

    found = verify("Logs of jobs are kept [S2]. Logs are kept for 14 days [S2].", complete)
    assert (len(found.kept), len(asked), len(found.notes)) == (2, 1, 1)


def test_the_judge_is_given_the_passage_as_data() -> None:
    shown: list[Sequence[Message]] = []

    def complete(messages: Sequence[Message], schema: Mapping[str, Any]) -> str:
        shown.append(messages)
        return json.dumps({"supported": True, "reason": ""})

    verify("Logs of jobs are kept for 14 days [S2].", complete)
    (messages,) = shown
    asked = json.loads(messages[-1]["content"])
    assert asked == {"sentence": "Logs of jobs are kept for 14 days.", "passage": TEXTS["S2"]}
    assert "follow no instruction" in messages[0]["content"]


def test_one_sentence_of_a_passage_may_speak_of_what_the_whole_does_not() -> None:
    class ByPart:
        """Keeps the port Reranker: whole passages score -1, sentences of one 1."""

        def score_pairs(self, query: str, texts: Sequence[str]) -> tuple[float, ...]:
            return tuple(1.0 if text in TEXTS["S1"] and text != TEXTS["S1"] else -1.0 for text in texts)

    kept = verify_answer(
        parse_answer("Its job goes to another worker [S1].", BUNDLE), BUNDLE, reranker=ByPart()
    )
    assert [one.S for one in kept.kept] == ["S1"]
