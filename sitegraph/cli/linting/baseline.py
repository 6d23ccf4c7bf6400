"""The findings that a project has accepted, in a file beside it: new ones are told, those are not."""

import json
from collections.abc import Sequence
from pathlib import Path

from retrieval.lint.findings import LintFinding
from runtime.file_errors import os_error_reason
from schemas.errors import ConfigError
from schemas.json_text import to_json

VERSION = 1


def read_baseline(path: Path) -> frozenset[str]:
    """Return the fingerprints of a baseline.

    Raises: ConfigError: the file is not there, or is none that `--write-baseline` wrote.
    """
    try:
        written = json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise ConfigError(
            f"cannot be read ({os_error_reason(error)}); make it with --write-baseline", subject=str(path)
        ) from error
    except ValueError as error:
        raise ConfigError("is not a baseline; make one with --write-baseline", subject=str(path)) from error
    try:
        if written["version"] != VERSION:
            raise ConfigError(
                f"is of version {written['version']}, not {VERSION}; make it again with --write-baseline",
                subject=str(path),
            )
        return frozenset(str(one["fingerprint"]) for one in written["findings"])
    except (KeyError, TypeError) as error:
        raise ConfigError("is not a baseline; make one with --write-baseline", subject=str(path)) from error


def write_baseline(path: Path, findings: Sequence[LintFinding]) -> None:
    """Write the findings to a file that people can read and compare: sorted, with what each is about."""
    from sitegraph.cli.exports.target import open_target

    rows = sorted(
        (
            {
                "fingerprint": one.fingerprint,
                "rule": one.rule,
                "path": one.places[0].path or one.places[0].uri,
            }
            for one in findings
        ),
        key=lambda row: (row["rule"], row["path"], row["fingerprint"]),
    )
    with open_target(path) as out:
        out.write((to_json({"version": VERSION, "findings": rows}, indent=2) + "\n").encode())
