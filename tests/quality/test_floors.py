"""Floors only rise and ceilings only fall, from commit to commit and in what is not committed yet."""

import subprocess

import pytest

from tests.quality.floors import CEILINGS, FLOORS, Floors, load_floors

GONE = {
    "lint git.seeded": "the rule for contradictions, which found none in any manual",
    "lint_at_most git.not_seeded": "the same",
}
"""Bounds whose capability was taken out, and which; nothing else may take a bound away."""


def git(*arguments: str) -> str:
    command = ["git", "-C", str(FLOORS.parent), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip("no history to read: this is no git checkout")
    return done.stdout


def floors_of(commit: str) -> Floors:
    """The bounds that a commit states; none before the file was there."""
    name = git("ls-files", "--full-name", "--", str(FLOORS)).strip()
    return load_floors(git("show", f"{commit}:{name}")) if git("ls-tree", commit, "--", str(FLOORS)) else {}


def loosened(old: Floors, new: Floors) -> list[str]:
    """Name the bounds that were loosened or taken away."""
    named = []
    for group, bounds in old.items():
        sign = -1 if group.endswith(CEILINGS) else 1
        for name, bound in bounds.items():
            now = new.get(group, {}).get(name)
            went = now is None and f"{group} {name}" not in GONE
            if went or (now is not None and sign * now < sign * bound):
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
    commits = git("log", "--full-history", "--format=%H %P", "--", str(FLOORS)).splitlines()
    changes = [(parent, commit) for commit, *parents in map(str.split, commits) for parent in parents]
    states = {commit: floors_of(commit) for change in changes for commit in change}
    now = load_floors(FLOORS.read_text())

    found = {commit: loosened(states[parent], states[commit]) for parent, commit in changes}
    assert commits
    assert not {commit: named for commit, named in found.items() if named}
    assert not loosened(states[commits[0].split()[0]], now)
