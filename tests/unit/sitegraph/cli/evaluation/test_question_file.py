"""Question files as editors and other programs write them."""

import json
from pathlib import Path

import pytest

from sitegraph.cli.evaluation.question_file import load_questions


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
