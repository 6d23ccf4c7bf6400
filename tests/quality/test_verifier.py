"""Sentences of answers, half of them with one thing wrong: how many of which does the verifier drop?

The hundred of `verifier_answers.yaml` were written before the rules; each other file tells what its sentences
gave when they were first run.
"""

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from indexes.reader_parts import OnnxReranker, locate_reranker
from retrieval.bundle.prompt import ParsedAnswer, Sentence
from retrieval.verify.verifier import VerifiedAnswer, verify_answer
from schemas.errors import ConfigError
from tests.fakes.plain_evidence import plain_bundle, plain_evidence
from tests.quality.floors import hold
from tests.quality.real_passages import find_passage

pytestmark = [pytest.mark.long, pytest.mark.timeout(600)]

REAL = ["real", "real_fresh", "real_unseen", "real_last"]
ANSWERS = Path(__file__).with_name("verifier_answers.yaml")


@cache
def reranker() -> OnnxReranker:
    try:
        return OnnxReranker(locate_reranker())
    except ConfigError as error:
        pytest.skip(str(error))


def verified(group: dict[str, Any], kind: str) -> VerifiedAnswer:
    """All right, or all wrong, sentences of one set of passages as one answer."""
    sentences = tuple(Sentence(text=one["text"], labels=(one["S"],)) for one in group[kind])
    answer = ParsedAnswer(sentences=sentences, not_found=False, tool_requests=(), problems=())
    evidence = tuple(
        plain_evidence(label, one) if isinstance(one, str) else one
        for label, one in group["evidence"].items()
    )
    return verify_answer(answer, replace(plain_bundle({}), evidence=evidence), reranker=reranker())


@pytest.mark.parametrize("name", ["answers", "hold_out", "fresh", "unseen"])
def test_wrong_sentences_are_dropped_and_right_ones_kept(figures: list[str], name: str) -> None:
    hold_lot(figures, name, yaml.safe_load(ANSWERS.with_name(f"verifier_{name}.yaml").read_text()))


@pytest.mark.data
@pytest.mark.parametrize("name", [*REAL, "manual_faq", "manual_library", "manual_policy", "manual_fresh"])
def test_so_it_is_with_sentences_about_real_documents(
    figures: list[str], name: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.getbasetemp() / "pages"
    groups = yaml.safe_load(ANSWERS.with_name(f"verifier_{name}.yaml").read_text())
    for group in groups:
        group["evidence"] = {
            label: find_passage(label, reference, folder) for label, reference in group["evidence"].items()
        }
    hold_lot(figures, name, groups)


def hold_lot(figures: list[str], name: str, groups: list[dict[str, Any]]) -> None:
    """Verify all sentences of a lot, and hold what is dropped against its floors."""
    wrong = [verified(group, "wrong") for group in groups]
    right = [verified(group, "right") for group in groups]
    figures += [f"  verifier {name} let pass: {one.text}" for answer in wrong for one in answer.kept]
    figures += [f"  verifier {name} dropped: {one.text} ({one.reason})" for a in right for one in a.dropped]
    for kind, group, answers in (("wrong", "verifier", wrong), ("right", "verifier_at_most", right)):
        dropped = sum(len(one.dropped) for one in answers)
        every = dropped + sum(len(one.kept) for one in answers)
        hold(figures, group, f"{name}.{kind}_dropped", dropped / every, note=f"of {every}")


def test_each_kept_sentence_rests_on_the_passage_it_was_written_from() -> None:
    for group in yaml.safe_load(ANSWERS.read_text()):
        labels = {one["text"]: one["S"] for one in group["right"]}
        assert {one.text: one.S for one in verified(group, "right").kept}.items() <= labels.items()
