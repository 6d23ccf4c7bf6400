"""What is no content is cited last, and a list of changes only where it is not asked for."""

import pytest

from retrieval.ranking.page_kinds import asks_for_changes, is_cited_last
from retrieval.ranking.score import Scored
from retrieval.ranking.selection import select_evidence
from schemas.evidence import Origin, Scores
from schemas.nodes import PageKind
from tests.fakes.graph_samples import make_chunk


@pytest.mark.parametrize(
    "question",
    [
        "What changed in 2.3?",
        "Since which release may berths be let?",
        "When was the lease keeper added?",
        "Is the old quay deprecated?",
        "what was new in 2021",
        "which version fixed the gate",
        "how do I upgrade",
    ],
)
def test_a_question_for_changes_names_a_version_a_year_or_a_change(question: str) -> None:
    assert asks_for_changes(question)


@pytest.mark.parametrize(
    "question", ["How do I let a berth?", "what does the keeper write down", "port 8080 refused", "berth 12"]
)
def test_other_questions_do_not(question: str) -> None:
    assert not asks_for_changes(question)


@pytest.mark.parametrize("asked", [True, False])
@pytest.mark.parametrize("kind", PageKind)
def test_all_but_content_is_cited_last_and_changes_unless_asked_for(kind: PageKind, asked: bool) -> None:
    expected = kind not in ({PageKind.CONTENT, PageKind.CHANGES} if asked else {PageKind.CONTENT})
    assert is_cited_last(kind, changes_asked=asked) is expected


def scored(text: str, score: float, kind: PageKind = PageKind.CONTENT) -> Scored:
    """A chunk of one page with its score."""
    return Scored(
        chunk=make_chunk(text, page_kind=kind),
        scores=Scores(text=score),
        source=Origin.VECTOR,
        role="rest",
        is_last=is_cited_last(kind, changes_asked=False),
    )


def test_what_is_last_stands_behind_all_content_whatever_its_score_and_the_caps() -> None:
    index = scored("keeper, 3", 0.9, PageKind.INDEX)
    content = [scored(f"The keeper, part {number}.", 0.5 - number / 100) for number in range(5)]
    assert select_evidence([index, *content], top_k=9).chosen == (*content, index)
    assert select_evidence([index, *content], top_k=5).chosen == tuple(content)
    assert select_evidence([index], top_k=2).chosen == (index,)
