"""A run as JSON: saved after any step, taken up again, and compared byte by byte."""

import json
from typing import Any

from retrieval.iterative.loop import Iteration, replay
from schemas.errors import ConfigError
from schemas.hashing import canonical_json
from schemas.records import from_record, to_record

VERSION = 1


def dump_iteration(run: Iteration) -> str:
    """Return a run as canonical JSON: equal runs give equal bytes."""
    return canonical_json({"version": VERSION, **to_record(run)})


def load_iteration(text: str) -> Iteration:
    """Read what `dump_iteration` wrote, and make sure that its state is the one its log leads to.

    Raises: ConfigError: it is not a saved run, one of another version, or changed since.
    """
    run = _read(text)
    try:
        sound = replay(run.state.question, run.log, steps=run.state.steps) == run.state
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise ConfigError(f"has a log that cannot be replayed ({error})", subject="saved run") from error
    if not sound:
        raise ConfigError("is not what its log leads to; ask the question again", subject="saved run")
    return run


def _read(text: str) -> Iteration:
    try:
        record: dict[str, Any] = json.loads(text)
        if record.pop("version") != VERSION:
            raise ConfigError("is of another version; ask the question again", subject="saved run")
        return from_record(Iteration, record)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise ConfigError(f"is not a saved run of the loop ({error})", subject="saved run") from error
