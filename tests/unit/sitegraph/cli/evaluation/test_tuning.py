"""Files of questions, and weights fitted to them."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from indexes.reader_parts import tuning_file
from indexes.wiring import open_readers
from retrieval.evidence import build_retriever
from retrieval.learning.questions import KnownQuestion
from retrieval.learning.tuning import tune_blend
from retrieval.question.query import build_query
from retrieval.ranking.score import WEIGHTS, blend
from runtime.yaml_files import load_checks
from schemas.errors import ConfigError, GuardRefused
from sitegraph.actions.tune import (
    QuestionFile,
    TunedIndex,
    apply_tuning,
    load_questions,
    tune_index,
    write_checks,
)
from tests.fakes.captured_questions import captured_question
from tests.fakes.disk_index import write_index
from tests.fakes.exported_encoder import place_exported_encoder
from tests.fakes.governance import governance_documents


@pytest.mark.parametrize(("mark", "text"), [("\ufeff", "what is it"), ("", "what\u2028is\u0085it")])
def test_a_byte_order_mark_and_odd_line_separators_break_no_line(
    tmp_path: Path, mark: str, text: str
) -> None:
    lines = (
        json.dumps({"id": n, "question": f"{text} {n}", "gold": ["a.md"]}, ensure_ascii=False)
        for n in range(40)
    )
    path = tmp_path / "questions.jsonl"
    path.write_bytes((mark + "\n".join(lines)).encode())
    assert load_questions(path).questions[3].text == f"{text} 3"


def test_the_documents_that_checks_cite_are_gold(tmp_path: Path) -> None:
    path = tmp_path / "questions.yaml"
    path.write_text(
        "questions:\n- {id: lease, question: a, cites: [guide.md#expiry, 'm.pdf#page=3']}\n"
        "- {question: b, answered: false}\n- {question: c, cites: Guide > Leases}\n"
    )
    (known,) = load_questions(path).questions
    assert (known.id, known.gold) == ("lease", ("guide.md", "m.pdf#page=3"))


@pytest.fixture
def index(tmp_path: Path) -> Path:
    encoder = place_exported_encoder(tmp_path / "encoder" / "default")
    return write_index(tmp_path / "index", *governance_documents(), encoder=encoder)


def tuned(index: Path, *, gold: str) -> TunedIndex:
    questions = [captured_question(number, gold) for number in range(30)]
    return TunedIndex(
        index=index,
        generation=1,
        file=QuestionFile(name="q.jsonl", sha256="0" * 64, questions=tuple(q.question for q in questions)),
        tuning=tune_blend(questions),
        unreached=(),
    )


def test_readers_use_stored_weights_and_go_back_when_the_file_is_gone(index: Path) -> None:
    before = sorted(path for path in index.rglob("*"))
    found = tuned(index, gold="gold")
    apply_tuning(found, timestamp="2026-03-01T00:00:00+00:00")
    assert sorted(path for path in index.rglob("*")) == before, "an index is not written to"

    def evidence() -> list[bool]:
        readers = open_readers(index, environment={})
        bundle = build_retriever(readers).retrieve(build_query("backup log"))
        weights = readers.weights or WEIGHTS
        return [one.score == blend(one.scores, weights) for one in bundle.evidence]

    assert open_readers(index, environment={}).weights == found.tuning.after != WEIGHTS
    assert all(evidence())
    tuning_file(index).unlink()
    assert open_readers(index, environment={}).weights is None
    assert all(evidence())


def test_weights_that_are_not_accepted_are_never_stored(index: Path) -> None:
    with pytest.raises(GuardRefused, match="nothing was stored"):
        apply_tuning(tuned(index, gold="missing"), timestamp="2026-03-01T00:00:00+00:00")
    assert not tuning_file(index).exists()


def test_questions_that_are_answered_are_written_as_checks_and_no_file_is_replaced(
    index: Path, tmp_path: Path
) -> None:
    known = KnownQuestion(id="q1", text="How long: a lease?", gold=("guide.md", "m.pdf#page=3"))
    path = tmp_path / "questions.yaml"
    write_checks(replace(tuned(index, gold="gold"), answered=(known,)), path)
    (check,) = load_checks(path)
    assert (check.id, check.question, check.cites) == (known.id, known.text, known.gold)
    with pytest.raises(ConfigError, match="already exists"):
        write_checks(tuned(index, gold="gold"), path)


def test_a_question_is_answered_where_all_of_its_gold_is_among_the_first(index: Path) -> None:
    questions = [
        KnownQuestion(id=str(number), text="backup log", gold=(gold,))
        for number, gold in enumerate(("GOV-0017", "nowhere.md") * 10)
    ]
    file = QuestionFile(name="q.jsonl", sha256="0" * 64, questions=tuple(questions))
    found = tune_index(open_readers(index, environment={}), file, on_asked=lambda: None)
    assert {one.gold for one in found.answered} == {("GOV-0017",)}
