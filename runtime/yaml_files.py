"""YAML that people write, errors by key and line: files of questions (docs/checks.md) and of tokens."""

import re
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, get_args

import yaml
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    model_validator,
)

from runtime.settings import naming_file
from schemas.access import ReaderToken, as_groups
from schemas.errors import ConfigError
from schemas.evidence import FILTER_FIELDS, Filter
from schemas.report import Check, OnFailure

_MESSAGES = {
    "extra_forbidden": "unknown key",
    "missing": "is required",
    "tuple_type": "should be a list",
    "model_type": "should be a mapping",
    "dict_type": "should be a mapping",
    "string_pattern_mismatch": "has a character that is not allowed, or is too long; allowed: {pattern}",
    "string_type": "should be a text; put it in quotes",
}


_AT_MOST = 20
"""Errors shown of one file; who has more begins with these."""


class KnownKeys(BaseModel):
    """A mapping of a file, each of whose keys is known."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def read_user_text(path: Path, *, encoding: str = "utf-8") -> str:
    """Read a file of the user's. Raises: ConfigError: it cannot be read."""
    with naming_file(path, "cannot be read"):
        return path.read_text(encoding=encoding)


def check_yaml(
    text: str, model_of: Callable[[Mapping[str, Any]], Any], *, subject: str, shape: str, context: Any = None
) -> tuple[Any, yaml.Node]:
    """Check a text against the type for its values; return what it says and the tree, which knows the lines.

    Args: subject: names the text in errors; shape: what is said of one that is no mapping.

    Raises: ConfigError: it is no YAML, or a key is unknown, wrong or occurs twice.
    """
    tree, values = _parse_yaml(text, subject)
    if not isinstance(values, dict):
        raise ConfigError(shape, subject=subject)
    model, twice = model_of(values), key_written_twice(tree)
    try:
        file = TypeAdapter(model).validate_python(values, context=context)
    except ValidationError as error:
        wrong = _explain(error, tree, model)
        raise ConfigError(f"{wrong}; {twice}" if twice else wrong, subject=subject) from error
    if twice:
        raise ConfigError(twice, subject=subject)
    return file, tree


def _parse_yaml(text: str, subject: str) -> tuple[Any, Any]:
    try:
        return yaml.compose(text, Loader=yaml.SafeLoader), yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise ConfigError(f"line {line}: not valid YAML ({error.problem})", subject=subject) from error
    except RecursionError as error:
        raise ConfigError("YAML is nested too deep", subject=subject) from error
    except (yaml.YAMLError, ValueError) as error:  # ValueError: a date that no calendar has
        raise ConfigError(f"not valid YAML ({_flattened(error)})", subject=subject) from error


def _explain(error: ValidationError, tree: Any, file: Any) -> str:
    """Say all that is wrong, each with line and key, in the order of the file; *file* models the whole."""
    found = sorted({_explain_one(one, tree, file) for one in error.errors()})
    lines = [f"line {line}: {key}: {message}" for line, key, message in found[:_AT_MOST]]
    left = [f"and {len(found) - _AT_MOST} more"] if len(found) > _AT_MOST else []
    return "; ".join([*lines, *left])


def _explain_one(error: Any, tree: Any, file: Any) -> tuple[int, str, str]:
    location = _as_written(tree, tuple(part for part in error["loc"] if part != "[key]"))
    key = ".".join(str(part) for part in location) or "the file"
    message = _MESSAGES.get(error["type"], error["msg"].removeprefix("Value error, "))
    message = message.replace("{pattern}", str(error.get("ctx", {}).get("pattern", "")))
    if error["type"] == "extra_forbidden":
        message += _near(str(location[-1]), _known_keys(file, location[:-1]))
    if error["type"] == "literal_error":
        message += _near(str(error["input"]), _choices(error))
    return _line_of(tree, location), key, message


def _as_written(tree: Any, location: tuple[Any, ...]) -> tuple[Any, ...]:
    """Leave out of a place in `schedule` what its short forms do not have: list, key."""
    if not location or location[0] != "schedule" or not isinstance(tree, yaml.MappingNode):
        return location
    node = next((value for key, value in tree.value if key.value == "schedule"), None)
    place: tuple[Any, ...] = location[:1]
    for part in location[1:]:
        if isinstance(part, int) and isinstance(node, yaml.SequenceNode):
            node, place = node.value[part], (*place, part)
        elif isinstance(part, str) and isinstance(node, yaml.MappingNode):
            return (*place, part)
    return place


def _near(wrong: str, known: tuple[str, ...]) -> str:
    """Name what was most likely meant, else everything that is known."""
    close = get_close_matches(wrong.lower(), known, n=1, cutoff=0.7)
    return f"; did you mean {close[0]}?" if close else f"; known: {', '.join(known)}"


def _choices(error: Any) -> tuple[str, ...]:
    return tuple(re.findall(r"'([^']*)'", error["ctx"]["expected"]))


def _known_keys(file: Any, location: tuple[Any, ...]) -> tuple[str, ...]:
    """The keys that a mapping of the file may have."""
    model = _model_in(file)
    for part in location:
        if isinstance(part, str):  # a number is the place in a list, all of whose items are of one kind
            named = {field.alias or name: field for name, field in model.model_fields.items()}
            model = _model_in(named[part].annotation)
    return tuple(field.alias or name for name, field in model.model_fields.items())


def _model_in(hint: Any) -> Any:
    """The model of a type: of a list, of its items; of one that may be missing, of it when it is there."""
    while inner := get_args(hint):
        hint = inner[0]
    return hint


def key_written_twice(node: yaml.Node | None) -> str | None:
    """Name the first such key of a checked file; YAML itself would take the last one in silence."""
    if isinstance(node, yaml.SequenceNode):
        return next((twice for item in node.value if (twice := key_written_twice(item))), None)
    seen: set[str] = set()
    for key, value in node.value if isinstance(node, yaml.MappingNode) else ():
        if key.value in seen:
            return f"line {key.start_mark.line + 1}: {key.value}: occurs twice"
        seen.add(key.value)
        if twice := key_written_twice(value):
            return twice
    return None


def _line_of(node: Any, location: tuple[Any, ...]) -> int:
    line = int(node.start_mark.line) + 1 if node is not None else 1
    for part in location:
        if isinstance(node, yaml.MappingNode):
            pair = next(((k, v) for k, v in node.value if k.value == str(part)), None)
            if pair is None:
                return line
            line, node = int(pair[0].start_mark.line) + 1, pair[1]
        elif isinstance(node, yaml.SequenceNode) and isinstance(part, int):
            node = node.value[part]
            line = int(node.start_mark.line) + 1
    return line


def _flattened(error: Exception) -> str:
    """Return the text of an error without its line breaks."""
    return " ".join(str(error).split())


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


class _Question(KnownKeys):
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


class _CheckFile(KnownKeys):
    top_k: TopK = 10
    on_failure: OnFailure = OnFailure.HOLD
    questions: tuple[_Question, ...]


def load_checks(path: Path) -> tuple[Check, ...]:
    """Read and check a file of questions, in its order.

    Raises: ConfigError: it cannot be read, is no YAML, or a key is unknown or wrong.
    """
    return parse_checks(read_user_text(path, encoding="utf-8-sig"), subject=str(path))


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
    shape = "must be a mapping with the key questions, a list"
    file, tree = check_yaml(text, lambda _values: _CheckFile, subject=subject, shape=shape)
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


class _Token(KnownKeys):
    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    groups: tuple[str, ...] = ()


class _File(KnownKeys):
    tokens: Annotated[tuple[_Token, ...], Field(min_length=1)]


def load_tokens(path: Path) -> tuple[ReaderToken, ...]:
    """Read a file of tokens, in its order.

    Raises: ConfigError: it cannot be read, a key is unknown or wrong, or two tokens have one name or hash.
    """
    subject = str(path)
    shape = "line 1: the file: should be a mapping"
    file, _ = check_yaml(read_user_text(path), lambda _values: _File, subject=subject, shape=shape)
    for what in ("name", "sha256"):
        seen = [getattr(one, what) for one in file.tokens]
        if len(set(seen)) < len(seen):
            raise ConfigError(f"two tokens have the same {what}", subject=subject)
    return tuple(
        ReaderToken(name=one.name, sha256=one.sha256, groups=as_groups(one.groups, subject=subject))
        for one in file.tokens
    )
