"""Folders of addresses that name a version of what is below them, and which version comes first."""

import re
from urllib.parse import unquote

from schemas.version_names import AHEAD, SETTLED

_BARE = re.compile(r"\d{1,3}")
"""A version where others stand beside it; else the number of an item. Four digits are a year."""

_NUMBER = re.compile(
    r"(?:v|ver|version|release|rel)[-_.]?(?P<prefixed>\d{1,3})"
    r"|(?:(?:v|ver|version|release|rel)[-_.]?)?(?P<dotted>\d+(?:\.(?:\d+|x))+)"
    r"(?P<early>[-_.]?(?:a|b|rc|alpha|beta|dev|pre|preview)[-_.]?\d*)?"
)
"""`v2`, `1.2`, `release-2.0`, `1.x`, `3.0rc1`."""

_PLACES = 8

VersionRank = tuple[int, int, tuple[int, ...]]
"""The lower comes first: settled, released, to come; then by name or not released yet; then the newest."""


def version_rank(folder: str, *, beside_version: bool = False) -> VersionRank | None:
    """Rank a folder by the version that its name says; None where it names none.

    *beside_version*: a folder of the same parent names a version surely, so that a bare number does, too.
    """
    name = unquote(folder).lower()
    if name in SETTLED:
        return 1, SETTLED.index(name), ()
    if name in AHEAD:
        return 3, 0, ()
    if beside_version and _BARE.fullmatch(name):
        return _released(name)
    found = _NUMBER.fullmatch(name)
    return _released(found["prefixed"] or found["dotted"], early=bool(found["early"])) if found else None


def _released(number: str, *, early: bool = False) -> VersionRank:
    # `1.x` is what comes after all of 1.
    parts = [-(10**9) if part == "x" else -int(part) for part in number.split(".")][:_PLACES]
    return 2, early, (*parts, *(0,) * (_PLACES - len(parts)))
