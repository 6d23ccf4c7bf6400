"""Names that stand for a version, where no number does."""

from typing import Final

SETTLED: Final = ("stable", "latest", "current")
"""Names of the version that readers are meant to see, most settled first."""

AHEAD: Final = (
    "dev",
    "devel",
    "develop",
    "development",
    "edge",
    "head",
    "main",
    "master",
    "next",
    "nightly",
    "preview",
    "trunk",
)
"""Names of the version that is still to come."""
