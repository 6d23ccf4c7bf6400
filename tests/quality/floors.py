"""The figures that quality tests are held against; they may rise, never fall (test_floors.py)."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

FLOORS = Path(__file__).with_name("floors.toml")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayFloors:
    """For one site: the archive measured, and new blocks for each text embedded, by version arrived at."""

    archive_sha256: str
    blocks_per_text: Mapping[str, float]


def load_replay_floors(text: str) -> Mapping[str, ReplayFloors]:
    """Read the floors of all sites from the text of the file."""
    return {site: ReplayFloors(**floors) for site, floors in tomllib.loads(text)["replay"].items()}
