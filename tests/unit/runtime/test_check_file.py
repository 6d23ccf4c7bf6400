"""Files of questions: what they may say, and errors that name line and key."""

from pathlib import Path

import pytest

from runtime.source_file import parse_source
from runtime.yaml_files import load_checks, parse_checks
from schemas.errors import ConfigError
from schemas.evidence import Filter
from schemas.report import OnFailure

WHOLE = """\
top_k: 5
on_failure: report
questions:
  - question: How long is a lease valid?
    cites: GOV-0017#expiry
    states: [30, A lease  is valid.]
  - id: price
    question: What does it cost?
    answered: false
    top_k: 3
    on_failure: hold
    filters: {doc_type: guide}
"""


def test_a_file_says_what_each_question_must_find() -> None:
    lease, price = parse_checks(WHOLE, subject="checks/questions.yaml")
    assert (lease.id, lease.cites, lease.states) == (
        "How long is a lease valid?",
        ("GOV-0017#expiry",),
        ("30", "A lease is valid."),
    )
    assert (lease.top_k, lease.on_failure, lease.where) == (5, OnFailure.REPORT, "questions.yaml:4")
    assert (price.id, price.answered, price.top_k, price.on_failure) == ("price", False, 3, OnFailure.HOLD)
    assert price.filters == (Filter(field="doc_type", values=("guide",)),)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- question: a", "must be a mapping"),
        ("questions: [{question: a}]", "line 1: questions.0: says nothing about the answer"),
        (
            "questions:\n- question: a\n  sites: b\n",
            "line 3: questions.0.sites: unknown key; did you mean cites?",
        ),
        (
            "questions:\n- {question: a, answered: false, states: b}",
            "line 2: questions.0: has answered: false",
        ),
        ("questions:\n- question: a\n  cites: b\n  top_k: 51\n", "line 4: questions.0.top_k"),
        ("on_failure: stop\nquestions: []", "line 1: on_failure"),
        ("questions:\n- {question: a, cites: b}\n- {question: a, cites: c}", "line 3: 'a' occurs twice"),
        ("questions: [{question: a, cites: b, filters: {colour: red}}]", "unknown field colour"),
        ("questions: [{question: '', cites: b}]", "must have 1 to 10000 characters"),
        ("questions: [", "line 1: not valid YAML"),
        ("top_k: 3\ntop_k: 4\nquestions: []", "line 2: top_k: occurs twice"),
        ("", "must be a mapping"),
    ],
)
def test_what_is_wrong_is_named_with_its_line_and_key(text: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_checks(text, subject="q.yaml")
    assert message in str(caught.value)
    assert str(caught.value).startswith("q.yaml: ")


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"none\.yaml: cannot be read"):
        load_checks(tmp_path / "none.yaml")


def test_a_source_file_names_it_from_its_own_folder(tmp_path: Path) -> None:
    text = "name: a\nkind: web\nseeds: ['https://example.org/']\nchecks: checks/questions.yaml\n"
    assert parse_source(text, subject="a.yaml", folder=tmp_path).checks == str(
        tmp_path.resolve() / "checks" / "questions.yaml"
    )
