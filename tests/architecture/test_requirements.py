"""Every requirement names the tests that hold it, and those tests exist."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from retrieval.question.query import ASK_TOP_K, TOP_K

REPO = Path(__file__).resolve().parents[2]
PAGE = REPO / "docs" / "development" / "requirements.md"
ROWS = [
    tuple(cell.strip() for cell in line.strip("|").split("|"))
    for line in PAGE.read_text(encoding="utf-8").splitlines()
    if line.startswith("| ") and not line.startswith("| rule")
]
TEST = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")


@pytest.mark.parametrize(("rule", "tests"), ROWS, ids=[rule for rule, _ in ROWS])
def test_a_requirement_is_held_by_tests_that_exist(rule: str, tests: str) -> None:
    named = TEST.findall(tests)
    assert named, f"no test is named for: {rule}"
    for path, name in named:
        assert name in defined_in(path), f"{path} has no {name}"


def test_each_specification_has_its_rules() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert [int(number) for number in re.findall(r"^## (\d{3})", page, re.MULTILINE)] == [0, 1, 2, 3, 4]
    assert len(ROWS) > 50


@cache
def defined_in(path: str) -> frozenset[str]:
    file = REPO / path
    if not file.is_file():
        return frozenset()
    nodes = ast.walk(ast.parse(file.read_text(encoding="utf-8")))
    return frozenset(node.name for node in nodes if isinstance(node, ast.FunctionDef))


def test_the_numbers_of_passages_are_those_of_the_program() -> None:
    told = f"unless asked otherwise {TOP_K} are shown, and an answer is taken from {ASK_TOP_K} |"
    assert told in PAGE.read_text("utf-8")
