"""The figures that quality tests are held against; they may rise, never sink (test_floors.py).

`floors.json` has a group for each kind of figure; in a group whose name ends in `at_most`, less is better.
`replay` is new blocks of a version, as site_truth.py counts them, for each text that the run to it embedded;
the aim is 0.5, and the floors lie a tenth below what was reached, since a better cut may cost a text or two.
"""

import json
from collections.abc import Mapping
from pathlib import Path

FLOORS = Path(__file__).with_name("floors.json")
CEILINGS = "at_most"

Floors = Mapping[str, Mapping[str, float]]


def load_floors(text: str) -> Floors:
    """Read the bounds of all groups from the text of the file."""
    floors: Floors = json.loads(text)
    return floors


def hold(figures: list[str], group: str, name: str, value: float, *, note: str = "") -> None:
    """Print a figure beside its bound and fail where it is worse; a figure without a bound is an error."""
    bound = load_floors(FLOORS.read_text())[group][name]
    most = group.endswith(CEILINGS)
    told = "at most" if most else "floor"
    figures.append(f"{group} {name}: {value:.4g} ({told} {bound}) {note}".rstrip())
    assert value <= bound if most else value >= bound, f"{group} {name} is {value:.4g}, {told} {bound}"
