"""Weights of the blend that tuning found, in a file beside the index: readers read it, tuning writes it."""

import json
import os
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from schemas.errors import ConfigError
from schemas.evidence import Scores

VERSION = 1
_PARTS = tuple(one.name for one in fields(Scores))


def tuning_file(index: Path) -> Path:
    """Return the file of an index's tuning: `NAME.tuning.json` beside the index folder `NAME`."""
    whole = index.resolve()
    return whole.with_name(f"{whole.name}.tuning.json")


def load_weights(index: Path) -> Scores | None:
    """Return the tuned weights of an index, None where it was never tuned.

    Raises: ConfigError: the file is not what `save_tuning` writes.
    """
    file = tuning_file(index)
    try:
        record = json.loads(file.read_bytes())
        weights = {name: float(record["weights"][name]) for name in _PARTS}
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise ConfigError(f"cannot be read ({error}); {_REMEDY}", subject=str(file)) from error
    adds_up = (
        min(weights.values()) >= 0 and abs(sum(weights.values()) - 1) <= 1e-6
    )  # neither, where one is NaN
    if record.get("version") != VERSION or not adds_up:
        raise ConfigError(f"does not hold weights that add up to 1; {_REMEDY}", subject=str(file))
    return Scores(**weights)


def save_tuning(index: Path, weights: Scores, record: Mapping[str, Any]) -> Path:
    """Store *weights* with what they rest on, whole or not at all; give the file."""
    file = tuning_file(index)
    named = {name: getattr(weights, name) for name in _PARTS}
    text = json.dumps({"version": VERSION, "weights": named, **record}, indent=2, ensure_ascii=False)
    fresh = file.with_name(f".{file.name}.new")
    with fresh.open("w", encoding="utf-8") as out:
        out.write(text + "\n")
        out.flush()
        os.fsync(out.fileno())
    fresh.replace(file)
    return file


_REMEDY = "delete it to go back to the default weights, or tune again"
