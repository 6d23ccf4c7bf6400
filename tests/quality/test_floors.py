"""Floors only rise and ceilings only fall, from commit to commit and in what is not committed yet."""

import subprocess
from itertools import pairwise

import pytest

from tests.quality.floors import CEILINGS, FLOORS, Floors, load_floors


def git(*arguments: str) -> str:
    command = ["git", "-C", str(FLOORS.parent), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip("no history to read: this is no git checkout")
    return done.stdout


def loosened(old: Floors, new: Floors) -> list[str]:
    """Name the bounds that were loosened or taken away."""
    named = []
    for group, bounds in old.items():
        sign = -1 if group.endswith(CEILINGS) else 1
        for name, bound in bounds.items():
            now = new.get(group, {}).get(name)
            if now is None or sign * now < sign * bound:
                named.append(f"{group} {name}: {bound}")
    return named


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
    assert loosened({"html": {"a": 0.9}, "pdf_at_most": {"b": 3}}, new) == named


def test_no_bound_was_ever_loosened() -> None:
    commits = git("log", "--reverse", "--format=%H", "--", str(FLOORS)).split()
    name = git("ls-files", "--full-name", "--", str(FLOORS)).strip()
    texts = [git("show", f"{commit}:{name}") for commit in commits]

    states = [load_floors(text) for text in [*texts, FLOORS.read_text()]]

    assert commits
    assert [loosened(old, new) for old, new in pairwise(states)] == [[]] * len(commits)
