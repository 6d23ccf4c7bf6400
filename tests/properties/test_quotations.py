"""Quotations, whatever the passage: word for word and without a gap, or the gap is marked."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

from hypothesis import given
from hypothesis import strategies as st

from retrieval.answering.answered import Answered
from retrieval.answering.extract import GAP, extract_answer
from schemas.evidence import ContextBundle
from tests.fakes.plain_evidence import plain_bundle

QUESTION = "Who keeps the great key?"
LINES = st.one_of(
    st.sampled_from(["{", "});", "]", "8080", "and:", "- .git", QUESTION, "The porter keeps the great key."]),
    st.text("ab .!?…[S1]\t\u00a0", max_size=60),
    st.integers(20, 160).map(lambda words: " ".join(["word"] * words)),
)
PASSAGES = st.lists(LINES, max_size=30).map("\n".join)


class Fickle:
    """A cross-encoder whose logits are above what an answer takes, and otherwise anything."""

    def __init__(self, logits: Sequence[float]) -> None:
        self.logits = logits

    def score_pairs(self, query: str, texts: Sequence[str]) -> tuple[float, ...]:
        return tuple(self.logits[len(query + text) % len(self.logits)] for text in texts)


RERANKERS = st.lists(st.floats(2.0, 9.0), min_size=1, max_size=20).map(Fickle)


def bundle_of(*passages: str) -> ContextBundle:
    return replace(plain_bundle({f"S{at}": text for at, text in enumerate(passages, 1)}), query=QUESTION)


def quotations(answer: Answered) -> dict[str, str]:
    runs = groupby(answer.sentences, lambda one: one.S or "")
    return {label: " ".join(one.text for one in run) for label, run in runs}


def fold(text: str) -> str:
    return " ".join(text.split())


@given(PASSAGES, PASSAGES, st.none() | RERANKERS)
def test_a_quotation_stands_in_its_passage(first: str, second: str, reranker: Fickle | None) -> None:
    bundle = bundle_of(first, second)
    answer = extract_answer(bundle, reranker=reranker)
    texts = {one.S: fold(one.text) for one in bundle.evidence}
    assert all(quoted in texts[label] for label, quoted in quotations(answer).items())


@given(PASSAGES, RERANKERS)
def test_what_further_questions_add_stands_in_its_order_behind_a_mark(text: str, reranker: Fickle) -> None:
    further = ("Where is the key?", "What is a porter?")
    answer = extract_answer(bundle_of(text), reranker=reranker, further=further)
    rest = fold(text)
    for quoted in quotations(answer).values():
        for piece in quoted.split(f" {GAP}"):
            _, found, rest = rest.partition(piece)
            assert found
