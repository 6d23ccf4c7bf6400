"""Floors only rise, from commit to commit and in what is not committed yet."""

import subprocess
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path

import pytest

from tests.quality.floors import FLOORS, ReplayFloors, load_replay_floors


def git(*arguments: str) -> str:
    command = ["git", "-C", str(FLOORS.parent), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip("no history to read: this is no git checkout")
    return done.stdout


def lowered(old: Mapping[str, ReplayFloors], new: Mapping[str, ReplayFloors]) -> list[str]:
    """Name the floors that fell or went, where they were measured on the same archive."""
    return [
        f"{site} {version}: {floor}"
        for site, floors in old.items()
        if site not in new or new[site].archive_sha256 == floors.archive_sha256
        for version, floor in floors.blocks_per_text.items()
        if site not in new or new[site].blocks_per_text.get(version, 0.0) < floor
    ]


def floors_of(floor: float, *, archive: str = "a") -> Mapping[str, ReplayFloors]:
    return {"site": ReplayFloors(archive_sha256=archive, blocks_per_text={"2": floor})}


@pytest.mark.parametrize(
    ("new", "named"),
    [
        (floors_of(0.9), []),
        (floors_of(0.8), []),
        (floors_of(0.7), ["site 2: 0.8"]),
        (floors_of(0.7, archive="b"), []),
        ({}, ["site 2: 0.8"]),
    ],
)
def test_a_floor_that_fell_or_went_is_named(new: Mapping[str, ReplayFloors], named: list[str]) -> None:
    assert lowered(floors_of(0.8), new) == named


def test_no_floor_was_ever_lowered() -> None:
    commits = git("log", "--reverse", "--format=%H", "--", str(FLOORS)).split()
    name = Path(git("ls-files", "--full-name", "--", str(FLOORS)).strip())
    texts = [git("show", f"{commit}:{name}") for commit in commits]

    states = [load_replay_floors(text) for text in [*texts, FLOORS.read_text()]]

    assert [lowered(old, new) for old, new in pairwise(states)] == [[]] * len(commits)
