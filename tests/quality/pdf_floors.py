"""Floors of the PDF figures: floors.json, below "pdf"; ceilings of what must stay small: "pdf_at_most"."""

import json
from pathlib import Path

FLOORS = Path(__file__).with_name("floors.json")


def hold(figures: list[str], name: str, value: float, *, note: str = "") -> None:
    """Print a figure beside its floor and fail where it is lower; a figure without a floor is an error."""
    floor = json.loads(FLOORS.read_text())["pdf"][name]
    figures.append(f"pdf {name}: {value:.4f} (floor {floor}) {note}".rstrip())
    assert value >= floor, f"{name} is {value:.4f}, its floor {floor}"


def hold_at_most(figures: list[str], name: str, value: float, *, note: str = "") -> None:
    """Print a figure beside its ceiling and fail where it is higher."""
    most = json.loads(FLOORS.read_text())["pdf_at_most"][name]
    figures.append(f"pdf {name}: {value:g} (at most {most}) {note}".rstrip())
    assert value <= most, f"{name} is {value:g}, at most {most}"
