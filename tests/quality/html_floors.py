"""Floors of the HTML figures: floors.json, below "html"; a figure under its floor fails its test."""

import json
from pathlib import Path

FLOORS = Path(__file__).with_name("floors.json")


def hold(figures: list[str], name: str, value: float, *, note: str = "") -> None:
    """Print a figure beside its floor and fail where it is lower; a figure without a floor is an error."""
    floor = json.loads(FLOORS.read_text())["html"][name]
    figures.append(f"html {name}: {value:.4f} (floor {floor}){' ' + note if note else ''}")
    assert value >= floor, f"{name} is {value:.4f}, its floor {floor}"
