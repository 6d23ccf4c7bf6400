"""A file of questions with known answers: JSON lines, a YAML list, or a file of checks."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from retrieval.checks.cites import document_of
from retrieval.learning.questions import KnownQuestion, read_questions
from runtime.check_file import parse_checks
from runtime.file_errors import os_error_reason
from schemas.checks import Check
from schemas.errors import ConfigError
from schemas.hashing import sha256_hex

_YAML = (".yaml", ".yml")


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionFile:
    """The questions of a file, and the hash of its bytes."""

    name: str
    sha256: str
    questions: tuple[KnownQuestion, ...]


def load_questions(path: Path) -> QuestionFile:
    """Read a `.yaml` file as a list, or as checks, whose cited documents are the gold; others as JSON lines.

    Raises: ConfigError: it cannot be read, or is not what it should be; the message names line or question.
    """
    try:
        data = path.read_bytes()
        text = data.decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot be read ({os_error_reason(error)})", subject=str(path)) from error
    records = _from_yaml(text, path) if path.suffix in _YAML else _from_lines(text, path)
    questions = read_questions(records, subject=str(path))
    return QuestionFile(name=path.name, sha256=sha256_hex(data), questions=questions)


def _from_lines(text: str, path: Path) -> list[Any]:
    records: list[Any] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                records.append(json.loads(line))
            except RecursionError as error:
                raise ConfigError(f"line {number}: JSON is nested too deep", subject=str(path)) from error
            except ValueError as error:
                raise ConfigError(f"line {number} is not JSON", subject=str(path)) from error
    return records


def _from_yaml(text: str, path: Path) -> list[Any]:
    try:
        records = yaml.safe_load(text)
    except RecursionError as error:
        raise ConfigError("YAML is nested too deep", subject=str(path)) from error
    except (yaml.YAMLError, ValueError) as error:  # ValueError: a date that no calendar has
        raise ConfigError("is not YAML", subject=str(path)) from error
    if isinstance(records, dict) and "questions" in records:
        return list(_from_checks(parse_checks(text, subject=str(path))))
    if not isinstance(records, list):
        raise ConfigError("must be a list of questions", subject=str(path))
    return records


def _from_checks(checks: Iterable[Check]) -> Iterator[dict[str, Any]]:
    """Checks that name no document, or that nothing may answer, have no gold."""
    for one in checks:
        gold = [name for entry in one.cites if (name := document_of(entry))]
        if gold:
            yield {"id": one.id, "question": one.question, "gold": gold}
