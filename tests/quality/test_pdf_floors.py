"""PDF floors only rise and ceilings only fall, from commit to commit and in what is not committed yet."""

import json
import subprocess
from collections.abc import Mapping
from itertools import pairwise

import pytest

from tests.quality.pdf_floors import FLOORS

Figures = Mapping[str, float]


def git(*arguments: str) -> str:
    command = ["git", "-C", str(FLOORS.parent), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip("no history to read: this is no git checkout")
    return done.stdout


def signed(text: str) -> Figures:
    """All figures with a ceiling's sign turned, so that more is always better."""
    figures = json.loads(text)
    return {
        **figures.get("pdf", {}),
        **{name: -most for name, most in figures.get("pdf_at_most", {}).items()},
    }


def worse(old: Figures, new: Figures) -> list[str]:
    return [name for name, value in old.items() if name not in new or new[name] < value]


@pytest.mark.parametrize(
    ("new", "named"),
    [({"a": 0.9}, []), ({"a": 0.8, "b": 1}, []), ({"a": 0.7}, ["a"]), ({"b": 1}, ["a"])],
)
def test_a_floor_that_fell_or_went_is_named(new: Figures, named: list[str]) -> None:
    assert worse({"a": 0.8}, new) == named


def test_no_floor_was_ever_lowered() -> None:
    commits = git("log", "--reverse", "--format=%H", "--", str(FLOORS)).split()
    name = git("ls-files", "--full-name", "--", str(FLOORS)).strip()
    texts = [git("show", f"{commit}:{name}") for commit in commits]

    states = [signed(text) for text in [*texts, FLOORS.read_text()]]

    assert [worse(old, new) for old, new in pairwise(states)] == [[]] * len(commits)
