"""`COPY.json`: what makes a folder the copy of an index elsewhere, which nobody but `pull` changes."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from indexes.layout import COPY as FILE
from indexes.places import write_durably
from schemas.errors import ConfigError, DamageFound
from schemas.records import from_record, to_record


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyMarker:
    """Where a copy comes from; `replaced` are generations it held before, and when they were replaced.

    Times are seconds since 1970. `raw`: bytes of PDFs are copied, too.
    """

    url: str
    raw: bool = True
    replaced: Mapping[str, float] = field(default_factory=dict)


def read_marker(root: Path) -> CopyMarker | None:
    """Return the marker of a copy, None for any other folder.

    Raises: DamageFound: it cannot be read.
    """
    file = root / FILE
    try:
        return from_record(CopyMarker, json.loads(file.read_bytes()))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise DamageFound("cannot be read; delete it and pull again", subject=str(file)) from error


def write_marker(root: Path, marker: CopyMarker) -> None:
    """Write the marker of a copy, durably."""
    write_durably(root / FILE, json.dumps(to_record(marker), indent=2, sort_keys=True) + "\n")


def refuse_copy(root: Path) -> None:
    """Raise ConfigError where a folder is a copy: what is written there, the next pull would undo."""
    if (marker := read_marker(root)) is not None:
        raise ConfigError(
            f"is a copy of {marker.url} and only read; run it where it is made, or into another --index",
            subject=str(root),
        )
