"""Questions of our own, half of which ask how named things are related: how many are told right?"""

from pathlib import Path
from typing import Any

import pytest
import yaml

from retrieval.question.route import asks_for_relations
from tests.quality.floors import hold

QUESTIONS: dict[str, list[dict[str, Any]]] = yaml.safe_load(
    Path(__file__).with_name("relationship_questions.yaml").read_text("utf-8")
)


def test_questions_after_relations_are_told_from_others(figures: list[str]) -> None:
    relations = [one for one in QUESTIONS["relations"] if is_told(one)]
    others = [one for one in QUESTIONS["others"] if not is_told(one)]
    hold(figures, "relationship", "right_of_60", len(relations) + len(others))


@pytest.mark.parametrize("way", ["relations", "others"])
def test_there_are_thirty_different_questions_each_way(way: str) -> None:
    assert len({one["text"] for one in QUESTIONS[way]}) == 30


def is_told(question: dict[str, Any]) -> bool:
    return asks_for_relations(question["text"], question.get("known", ()))
