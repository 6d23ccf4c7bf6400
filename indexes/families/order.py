"""Which of several versions of a manual comes first: the one that readers are meant to see."""

import re

from packaging.version import Version

from schemas.version_names import AHEAD, SETTLED

_LEADING = re.compile(r"^(?:version|ver|release|rel|v)[-_.]?(?=\d)", re.IGNORECASE)
_OPEN = re.compile(r"(?<=\.)x$", re.IGNORECASE)
_BEYOND = "999999999"

Preference = tuple[int, Version, str, str]
"""The higher is preferred: settled names, then releases by number, then what is to come, then any name.
The version as it is written ends all ties."""

_NONE = Version("0")


def preference(version: str) -> Preference:
    """Place a version among others of its manual.

    `stable`, `latest` and `current` come before all releases, in this order; then releases, the newest first
    (PEP 440: `15.20`, `v2`, `1.x` after all of 1); then what is not released, by number (`16rc1`) and by name
    (`devel`, `main`); names that say nothing come last, by the alphabet from its end.
    """
    name = version.strip().lower()
    if name in SETTLED:
        return 4, _NONE, chr(len(SETTLED) - SETTLED.index(name)), version
    if name in AHEAD:
        return 1, _NONE, name, version
    try:
        number = Version(_OPEN.sub(_BEYOND, _LEADING.sub("", name)))
    except ValueError:  # none, or of more digits than Python reads
        return 0, _NONE, name, version
    return (2 if number.is_prerelease else 3), number, name, version


def newest_first(versions: set[str]) -> tuple[str, ...]:
    """Order versions, the preferred one first."""
    return tuple(sorted(versions, key=preference, reverse=True))
