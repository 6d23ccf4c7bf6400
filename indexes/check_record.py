"""`checks.json`: what the last run that asked questions before publishing found, for those who read it."""

import json

from indexes.layout import IndexLayout
from indexes.places import write_durably
from schemas.checks import CheckRecord
from schemas.records import from_record, to_record

NAME = "checks.json"


def save_record(layout: IndexLayout, record: CheckRecord) -> None:
    """Keep what a run found, in place of what the one before it found."""
    write_durably(layout.root / NAME, json.dumps(to_record(record), indent=2, sort_keys=True) + "\n")


def load_record(layout: IndexLayout) -> CheckRecord | None:
    """Return what the last run that asked found; None where none did, or it cannot be read."""
    try:
        return from_record(CheckRecord, json.loads((layout.root / NAME).read_bytes()))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
