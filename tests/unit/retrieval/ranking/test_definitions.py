"""What counts as the definition of a name, and where it stands."""

from dataclasses import replace

import pytest

from retrieval.ranking.score import Scored
from retrieval.ranking.selection import (
    DEFINITION_PLACE,
    TOOL_PLACE,
    defines,
    find_definitions,
    select_evidence,
)
from tests.unit.retrieval.ranking.test_selection import scored


@pytest.mark.parametrize(
    ("heading", "text", "name", "is_one"),
    [
        ("Write-ahead log", "Changes go there first.", "write ahead log", True),
        ("Notes", "A checkpoint is a point in time.", "checkpoint", True),
        ("Notes", "WAL (write-ahead log) means that changes go first.", "wal", True),
        ("Notes", "Use a checkpoint where it is late.", "checkpoint", False),
        ("Notes", "Checkpoints cost time.", "checkpoint", False),
        ("Log files", "They grow.", "log", False),
    ],
)
def test_a_heading_or_a_first_sentence_defines_a_name(
    heading: str, text: str, name: str, is_one: bool
) -> None:
    chunk = replace(scored("a", 0.5).chunk, heading_path=("Manual", heading), text=text)
    assert defines(chunk, name) is is_one


def test_the_best_definition_of_each_of_two_names_is_taken() -> None:
    def under(name: str, text: float, heading: str) -> Scored:
        one = scored(name, text)
        return replace(one, chunk=replace(one.chunk, heading_path=(heading,)))

    ranked = [
        under("a", 0.9, "Other"),
        under("b", 0.8, "Lease"),
        under("c", 0.7, "Lease"),
        under("d", 0.6, "Log"),
    ]
    assert find_definitions(ranked, ["Lease", "Log", "Lock"]) == ("b", "d")
    assert find_definitions(ranked, []) == ()


def test_a_definition_stands_sixth_at_the_latest_and_that_of_a_tool_second() -> None:
    ranked = [scored(f"c{n}", 0.9 - n / 100, doc=f"page:{n}") for n in range(9)]
    order = [one.chunk.id for one in select_evidence(ranked, top_k=9, definitions=["c8", "c2"]).chosen]
    assert order[DEFINITION_PLACE] == "c8"
    assert [one for one in order if one != "c8"] == [f"c{n}" for n in range(8)]
    order = [one.chunk.id for one in select_evidence(ranked, top_k=9, of_tools=["c7", "c8"]).chosen]
    assert order[TOOL_PLACE : TOOL_PLACE + 2] == ["c7", "c8"]


def test_a_tool_passes_the_caps_and_a_definition_does_not() -> None:
    page = [scored(f"p{n}", 0.9 - n / 100, section="x") for n in range(4)]
    other = [scored(f"o{n}", 0.5 - n / 100, doc=f"page:{n}") for n in range(6)]
    tool = select_evidence([*page, *other], top_k=10, of_tools=["p3"])
    assert tool.chosen[TOOL_PLACE].chunk.id == "p3"
    assert tool.relaxed == 2
    far = [scored(f"p{n}", 0.6 - n / 100, section="x") for n in range(4)]
    near = [scored(f"o{n}", 0.59 - n / 100, doc=f"page:{n}") for n in range(6)]
    named = select_evidence([*far, *near], top_k=10, definitions=["p3"])
    assert named == select_evidence([*far, *near], top_k=10)
    assert [one.chunk.id for one in named.chosen].index("p3") > DEFINITION_PLACE
