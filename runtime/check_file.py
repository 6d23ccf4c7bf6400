"""Files of questions that an index must go on answering; docs/checks.md is the contract.

Errors name the file, the line and the key.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)

from runtime.file_errors import os_error_reason
from runtime.source_errors import explain, key_written_twice, one_line
from schemas.checks import Check, OnFailure
from schemas.errors import ConfigError
from schemas.evidence import FILTER_FIELDS, Filter

TEXT_MAX = 10_000
"""Characters of a question, as of any query."""
TOP_K_MAX = 50


def _listed(value: object) -> object:
    """Take one entry for a list of it, and a number for its text."""
    entries = value if isinstance(value, list | tuple) else (value,)
    return tuple(str(one) if _is_number(one) else one for one in entries)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _said(text: str) -> str:
    if not text.strip() or len(text) > TEXT_MAX:
        raise ValueError(f"must have 1 to {TEXT_MAX} characters")
    if any("\ud800" <= char <= "\udfff" for char in text):
        raise ValueError("contains a lone surrogate, which cannot be written as UTF-8")
    return " ".join(text.split())


def _filtered(filters: dict[str, Any]) -> dict[str, Any]:
    if unknown := sorted(filters.keys() - set(FILTER_FIELDS)):
        raise ValueError(f"unknown field {unknown[0]}; known: {', '.join(FILTER_FIELDS)}")
    return filters


Said = Annotated[str, AfterValidator(_said)]
Listed = Annotated[tuple[Said, ...], BeforeValidator(_listed)]
TopK = Annotated[int, Field(strict=True, ge=1, le=TOP_K_MAX)]
Filters = Annotated[dict[str, Listed], AfterValidator(_filtered)]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _Question(_Model):
    id: Said | None = None
    question: Said
    cites: Listed = ()
    states: Listed = ()
    answered: bool = Field(default=True, strict=True)
    top_k: TopK | None = None
    on_failure: OnFailure | None = None
    filters: Filters = {}

    @model_validator(mode="after")
    def _asks_for_something(self) -> "_Question":
        if self.answered and not self.cites and not self.states:
            raise ValueError("says nothing about the answer; give cites or states, or answered: false")
        if not self.answered and (self.cites or self.states):
            raise ValueError("has answered: false, so it must not have cites or states")
        return self


class _CheckFile(_Model):
    top_k: TopK = 10
    on_failure: OnFailure = OnFailure.HOLD
    questions: tuple[_Question, ...]


def load_checks(path: Path) -> tuple[Check, ...]:
    """Read and check a file of questions, in its order.

    Raises: ConfigError: it cannot be read, is no YAML, or a key is unknown or wrong.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot be read ({os_error_reason(error)})", subject=str(path)) from error
    return parse_checks(text, subject=str(path))


def join_checks(files: Iterable[Path]) -> tuple[Check, ...]:
    """Read several files; of an id that stands in more than one the first counts.

    Raises: as `load_checks`.
    """
    found: dict[str, Check] = {}
    for file in dict.fromkeys(files):
        for check in load_checks(file):
            found.setdefault(check.id, check)
    return tuple(found.values())


def parse_checks(text: str, *, subject: str) -> tuple[Check, ...]:
    """Check the text of a file of questions; *subject* names it in errors."""
    try:
        tree = yaml.compose(text, Loader=yaml.SafeLoader)
        values = yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise ConfigError(f"line {line}: not valid YAML ({error.problem})", subject=subject) from error
    except RecursionError as error:
        raise ConfigError("YAML is nested too deep", subject=subject) from error
    except (yaml.YAMLError, ValueError) as error:  # ValueError: a date that no calendar has
        raise ConfigError(f"not valid YAML ({one_line(error)})", subject=subject) from error
    if not isinstance(values, dict):
        raise ConfigError("must be a mapping with the key questions, a list", subject=subject)
    try:
        file = _CheckFile.model_validate(values)
    except ValidationError as error:
        raise ConfigError(explain(error, tree, _CheckFile), subject=subject) from error
    if twice := key_written_twice(tree):
        raise ConfigError(twice, subject=subject)
    return _once(tuple(_checks(file, _lines(tree), Path(subject).name)), subject)


def _lines(tree: Any) -> list[int]:
    questions = next(value for key, value in tree.value if key.value == "questions")
    return [int(one.start_mark.line) + 1 for one in questions.value]


def _checks(file: _CheckFile, lines: list[int], name: str) -> list[Check]:
    return [
        Check(
            id=one.id or one.question,
            question=one.question,
            cites=tuple(dict.fromkeys(one.cites)),
            states=tuple(dict.fromkeys(one.states)),
            answered=one.answered,
            top_k=one.top_k or file.top_k,
            on_failure=one.on_failure or file.on_failure,
            filters=tuple(Filter(field=field, values=values) for field, values in one.filters.items()),
            where=f"{name}:{line}",
        )
        for one, line in zip(file.questions, lines, strict=True)
    ]


def _once(checks: tuple[Check, ...], subject: str) -> tuple[Check, ...]:
    """Refuse two questions of one id: losses are told by it."""
    seen: set[str] = set()
    for one in checks:
        if one.id in seen:
            line = one.where.rpartition(":")[2]
            raise ConfigError(
                f"line {line}: {one.id!r} occurs twice; give each question its own id", subject=subject
            )
        seen.add(one.id)
    return checks
