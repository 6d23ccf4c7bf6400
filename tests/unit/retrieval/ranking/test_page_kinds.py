"""What is no content is cited last, and a list of changes only where it is not asked for."""

from pathlib import Path
from unittest.mock import Mock

import pytest

from retrieval.question.query import build_query
from retrieval.question.words import stems
from retrieval.ranking import candidates
from retrieval.ranking.candidates import asks_for_changes, is_cited_last, only_asks
from retrieval.ranking.score import Scored
from retrieval.ranking.selection import select_evidence
from retrieval.retriever import Retriever
from schemas.evidence import Origin, Scores
from schemas.nodes import PageKind
from tests.fakes.graph_samples import make_chunk
from tests.fakes.pages import parse_file
from tests.fakes.small_index import AS_OF, GENERATION, build_index, page


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


ASKED = "how do I rotate the signing key"
CURL = (
    "It also answers over HTTP:\n\ncurl -s http://127.0.0.1:8000/retrieve -H 'Accept: application/json' \\\n"
    f'     -d \'{{"query": "{ASKED}", "top_k": 5}}\''
)


@pytest.mark.parametrize(
    ("text", "only"),
    [
        (CURL, True),
        (f'Ask:\n\nsitegraph query "{ASKED}" --top-k 5', True),
        ("Rows:\n\npython -m retrieval --query 'signing key'", True),
        (f"Ask:\n\nsitegraph query {ASKED}", False),
        (f"{CURL}\n\nTo rotate a key, sign with the new one.", False),
        (f'They ask "{ASKED}" every year.', False),
        ('"Rotating the signing key" is what the keeper does.', False),
        ("The keeper does it each year.", False),
    ],
)
def test_a_line_of_code_that_asks_the_question_does_not_answer_it(text: str, only: bool) -> None:
    assert only_asks(make_chunk(text, heading_path=("HTTP",)), stems(ASKED)) is only
    assert not only_asks(make_chunk(text, heading_path=("Rotating the signing key",)), stems(ASKED))


def test_a_passage_is_read_for_words_only_where_a_line_of_it_may_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    read = Mock(side_effect=stems)
    monkeypatch.setattr(candidates, "stems", read)
    assert not only_asks(make_chunk("The keeper rotates the signing key each year."), stems(ASKED))
    assert not read.called


def test_the_manuals_own_example_of_asking_comes_behind_what_answers() -> None:
    answer = (
        "Add the new public key to the file before you change what signs, and take the old one out later."
    )
    index = build_index(
        [
            page("http", {"HTTP": CURL}),
            page("quickstart", {"Ask": f'Ask:\n\nsitegraph query "{ASKED}" --index ./index'}),
            page("copy", {"Keys": answer}),
        ],
        [],
    )
    retriever = Retriever(index.chunks, index.graph, index.encoder, generation=GENERATION, as_of=AS_OF)
    assert retriever.retrieve(build_query(ASKED)).evidence[0].text == answer


def test_the_examples_of_the_real_manual_are_told_from_what_it_says_of_keys() -> None:
    docs = Path(__file__).parents[4] / "docs"
    found = {
        name: [
            one
            for one in parse_file((docs / name).read_text("utf-8"), name).chunks
            if stems(ASKED) & stems(one.text)
        ]
        for name in ("quickstart.md", "reference/http.md", "how-to/copy-an-index.md")
    }
    only = {name: [only_asks(one, stems(ASKED)) for one in chunks] for name, chunks in found.items()}
    assert any(only["quickstart.md"])
    assert any(only["reference/http.md"])
    assert only["how-to/copy-an-index.md"]
    assert not any(only["how-to/copy-an-index.md"])
