"""`sitegraph lint --list-rules`: what each rule finds, for people and for programs."""

import json

import pytest

from retrieval.lint.catalogue import RULES
from sitegraph.cli.app import run_app


def test_the_rules_are_listed_as_text_and_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_app(["lint", "--list-rules"]) == 0
    text = capsys.readouterr().out
    assert run_app(["lint", "--list-rules", "--format", "json"]) == 0
    listed = json.loads(capsys.readouterr().out)["rules"]

    assert [one["id"] for one in listed] == list(RULES)
    assert all(f"{one['id']} ({one['severity']}" in text for one in listed)
    assert [one["id"] for one in listed if not one["default"]] == ["unlinked"]


def test_rules_are_no_findings(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_app(["lint", "--list-rules", "--format", "sarif"]) == 2
    assert capsys.readouterr().err.endswith("--format: must be text or json when --list-rules is given\n")
