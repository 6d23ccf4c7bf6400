"""Floors of structure only rise, and what must stay small only falls, from commit to commit."""

import json
import subprocess
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path

import pytest

from tests.quality.html_floors import FLOORS

Floors = Mapping[str, Mapping[str, float]]
_CEILINGS = "at_most"


def lowered(old: Floors, new: Floors) -> list[str]:
    """Name the figures whose bound was loosened or taken away."""
    loosened = []
    for kind, bounds in old.items():
        sign = -1 if kind.endswith(_CEILINGS) else 1
        for name, bound in bounds.items():
            now = new.get(kind, {}).get(name)
            if now is None or sign * now < sign * bound:
                loosened.append(f"{kind} {name}: {bound}")
    return loosened


@pytest.mark.parametrize(
    ("new", "named"),
    [
        ({"html": {"a": 0.9}, "pdf_at_most": {"b": 3}}, []),
        ({"html": {"a": 1.0}, "pdf_at_most": {"b": 2}}, []),
        ({"html": {"a": 0.8}, "pdf_at_most": {"b": 4}}, ["html a: 0.9", "pdf_at_most b: 3"]),
        ({"pdf_at_most": {"b": 3}}, ["html a: 0.9"]),
    ],
)
def test_a_bound_that_was_loosened_or_went_is_named(new: Floors, named: list[str]) -> None:
    assert lowered({"html": {"a": 0.9}, "pdf_at_most": {"b": 3}}, new) == named


def test_no_bound_was_ever_loosened() -> None:
    name = Path(git("ls-files", "--full-name", "--", str(FLOORS)).strip())
    commits = git("log", "--reverse", "--format=%H", "--", str(FLOORS)).split()
    texts = [git("show", f"{commit}:{name}") for commit in commits]

    states = [json.loads(text) for text in [*texts, FLOORS.read_text()]]

    assert [lowered(old, new) for old, new in pairwise(states)] == [[]] * len(commits)


def git(*arguments: str) -> str:
    command = ["git", "-C", str(FLOORS.parent), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip("no history to read: this is no git checkout")
    return done.stdout
