"""Query text and options as a user gives them, checked and turned into a `Query`; what may be asked."""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, get_args

from retrieval.question.dates import RECENCY, combine_bounds, parse_age, parse_bound
from schemas.errors import ConfigError, FilterError, QueryRefused
from schemas.evidence import DATE_FIELDS, FILTER_FIELDS, Filter, Query, ToolUse
from schemas.formats import NAME
from schemas.text import whole_text

TOP_K, ASK_TOP_K, TOP_K_MAX = 5, 10, 50
"""Passages that are shown, those that an answer is taken from, and most of both."""

Unit = Literal["passage", "page"]
"""What is listed."""
TOKEN_BUDGET = 2500
TOKEN_BUDGET_MIN, TOKEN_BUDGET_MAX = 16, 100_000
TEXT_MAX = 10_000
PERSONA_MAX, PERSONA_LINES_MAX = 280, 2
TOOL_NAME_MAX, TOOL_INPUTS_MAX, TOOL_RESULT_MAX = 200, 10_000, 40_000
TOOL_DEPTH_MAX = 32
VERSION_MAX = 200
FILTER_ALIASES = {"lifecycle": "status", "tool_name": "tool_names", "pdf_page": "page_no"}
_PAGE_NO = re.compile(r"0{0,8}[1-9][0-9]{0,8}")
"""Any page of any PDF, and few enough digits for the column."""

FILTER_KEYS = tuple(sorted({*FILTER_FIELDS, *DATE_FIELDS, *FILTER_ALIASES, RECENCY}))
_COMPARED = re.compile(r"(\w+)\s*([<>]=?)(.*)", re.DOTALL)


def build_query(
    text: str,
    *,
    filters: Iterable[Filter] = (),
    top_k: int = TOP_K,
    token_budget: int = TOKEN_BUDGET,
    use_graph: bool = True,
    rerank: bool | None = False,
    persona: str | None = None,
    tool: ToolUse | None = None,
    version: str | None = None,
    only_named: bool = False,
    by: Unit = "passage",
) -> Query:
    """Check the bounds of a query and give it; white space around the text goes.

    Raises: ConfigError: an empty or over-long text, persona, tool or version, `top_k` or `token_budget` out
    of bounds, or `by` something that is not listed.
    """
    clean = " ".join(whole_text(text).split())
    if not clean:
        raise ConfigError(
            "is empty; ask something, for example: 'How is the index backed up?'", subject="query"
        )
    if len(clean) > TEXT_MAX:
        raise ConfigError(f"has {len(clean)} characters; at most {TEXT_MAX} are searched", subject="query")
    if by not in get_args(Unit):
        raise ConfigError(f"must be {' or '.join(get_args(Unit))}, not {by!r}", subject="by")
    _check_bounds("--top-k", top_k, 1, TOP_K_MAX)
    _check_bounds("--budget", token_budget, TOKEN_BUDGET_MIN, TOKEN_BUDGET_MAX)
    return Query(
        text=clean,
        filters=tuple(filters),
        top_k=top_k,
        token_budget=token_budget,
        use_graph=use_graph,
        rerank=rerank,
        persona=_persona(persona),
        tool=_tool(tool),
        version=_version(version),
        only_named=only_named,
        by_page=by == "page",
    )


def _version(text: str | None) -> str | None:
    if text is None:
        return None
    clean = whole_text(text).strip()
    if not 0 < len(clean) <= VERSION_MAX:
        raise ConfigError(f"must have 1 to {VERSION_MAX} characters", subject="version")
    return clean


def _tool(tool: ToolUse | None) -> ToolUse | None:
    if tool is None:
        return None
    name = " ".join(whole_text(tool.name).split())
    if not 0 < len(name) <= TOOL_NAME_MAX:
        raise ConfigError(f"the name must have 1 to {TOOL_NAME_MAX} characters", subject="tool")
    return ToolUse(
        name=name,
        inputs=_plain_json("tool inputs", tool.inputs, TOOL_INPUTS_MAX),
        result=_plain_json("tool result", tool.result, TOOL_RESULT_MAX),
    )


def _plain_json(subject: str, value: dict[str, Any] | None, most: int) -> dict[str, Any] | None:
    """Return an object as any reader of JSON would have it back; what none can write is refused."""
    if value is None:
        return None
    if _is_deep(value, TOOL_DEPTH_MAX):
        raise ConfigError(f"is nested more than {TOOL_DEPTH_MAX} deep", subject=subject)
    try:
        text = whole_text(json.dumps(value, ensure_ascii=False, allow_nan=False))
    except ValueError as error:
        raise ConfigError(f"is not JSON ({error})", subject=subject) from error
    if len(text) > most:
        raise ConfigError(f"has {len(text)} characters of JSON; at most {most} are accepted", subject=subject)
    found: dict[str, Any] = json.loads(text)
    return found


def _is_deep(value: Any, left: int) -> bool:
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return bool(inside) and (left == 0 or any(_is_deep(one, left - 1) for one in inside))


def _persona(text: str | None) -> str | None:
    lines = [" ".join(line.split()) for line in whole_text(text or "").splitlines() if line.strip()]
    if len(lines) > PERSONA_LINES_MAX or sum(map(len, lines)) > PERSONA_MAX:
        raise ConfigError(
            f"must be at most {PERSONA_LINES_MAX} lines and {PERSONA_MAX} characters", subject="persona"
        )
    return "\n".join(lines) or None


def parse_tool(name: str | None, *, inputs: str | None, result: str | None) -> ToolUse | None:
    """Read a tool's name, and JSON objects of its inputs and of what it gave, as a command line has them.

    Raises: ConfigError: no JSON object, or one without the name of its tool.
    """
    if name is None:
        if inputs is not None or result is not None:
            raise ConfigError("name the tool too: --tool NAME", subject="--tool")
        return None
    return ToolUse(
        name=name,
        inputs=_json_object("--tool-inputs", inputs),
        result=_json_object("--tool-result", result),
    )


def _json_object(option: str, text: str | None) -> dict[str, Any] | None:
    if text is None:
        return None
    found = _read_json(text, option)
    if not isinstance(found, dict):
        raise ConfigError('must be a JSON object like {"amount": 3}', subject=option)
    return found


def _read_json(text: str, subject: str) -> Any:
    try:
        return json.loads(text)
    except RecursionError as error:
        raise ConfigError("JSON is nested too deep", subject=subject) from error
    except ValueError as error:
        raise ConfigError(f"is not JSON ({error})", subject=subject) from error


def _check_bounds(option: str, value: int, low: int, high: int) -> None:
    if not low <= value <= high:
        raise ConfigError(f"must lie between {low} and {high}, not {value}", subject=option)


def parse_filters(items: Sequence[str]) -> tuple[Filter, ...]:
    """Read `key=value` items; several values of one key mean any of them, several keys mean all.

    A date may be compared: `last_modified>=2024-01-01`; several comparisons must all hold.
    Raises: FilterError: no `=`, an unknown key (the message names the known ones), an impossible value.
    """
    pairs = [_split(item) for item in items]
    for item, (_, equals, _) in zip(items, pairs, strict=True):
        if not equals:
            raise FilterError(
                "is not of the form key=value, for example doc_type=governance", subject=repr(item)
            )
    return _filters((key.strip(), value.strip()) for key, _, value in pairs)


def _split(item: str) -> tuple[str, str, str]:
    match = _COMPARED.fullmatch(item)
    return (match[1], "=", f"{match[2]}{match[3]}") if match else item.partition("=")


def filters_from_record(record: Mapping[str, Any]) -> tuple[Filter, ...]:
    """Read filters of the JSON form `{"doc_type": "governance", "lang": ["en", "de"]}`.

    Raises: FilterError: as `parse_filters`, or a value that is no scalar; an empty list, which a caller that
    may see nothing would send, is never taken for no filter.
    """
    pairs: list[tuple[str, str]] = []
    for key, value in record.items():
        for one in (value or [""]) if isinstance(value, list) else [value]:
            if not isinstance(one, str | int) or isinstance(one, bool):
                raise FilterError(f"the value must be a string or a whole number, not {one!r}", subject=key)
            pairs.append((key, str(one)))
    return _filters(pairs)


def _filters(pairs: Iterable[tuple[str, str]]) -> tuple[Filter, ...]:
    values: dict[str, set[str]] = {}
    for key, value in pairs:
        if key not in FILTER_KEYS:
            raise FilterError(f"is not a filter; known keys: {', '.join(FILTER_KEYS)}", subject=repr(key))
        field = FILTER_ALIASES.get(key, key)
        values.setdefault(field, set()).add(_check_value(field, value))
    return tuple(Filter(field=field, values=_values(field, values[field])) for field in sorted(values))


def _values(field: str, said: set[str]) -> tuple[str, ...]:
    return combine_bounds(said) if field in DATE_FIELDS else tuple(sorted(said))


def _check_value(field: str, value: str) -> str:
    if not value:
        raise FilterError(f"has no value; write {field}=something", subject=field)
    if whole_text(value) != value:
        raise FilterError("is not UTF-8", subject=field)
    if field in DATE_FIELDS:
        return parse_bound(value)
    if field == RECENCY:
        return parse_age(value)
    if field == "page_no" and not _PAGE_NO.fullmatch(value):
        raise FilterError(f"must be a page number from 1, not {value!r}", subject=field)
    if field == "kind" and not NAME.fullmatch(value):
        raise FilterError(f"must be the name of a format, as html or pdf, not {value!r}", subject=field)
    return value


def parse_query_lines(lines: Iterable[str], options: Query) -> tuple[Query, ...]:
    """Read `{"query": "...", "filters": {...}}` a line; all else, and filters of other keys, as in *options*.

    Empty lines are passed over. Raises: ConfigError, FilterError: a bad line; the message has its number.
    """
    queries: list[Query] = []
    for number, line in enumerate(lines, start=1):
        if line.strip():
            try:
                queries.append(_parse_query_line(line, options))
            except (ConfigError, FilterError) as error:
                raise type(error)(error.message, subject=f"line {number}: {error.subject}") from error
    return tuple(queries)


def _parse_query_line(line: str, options: Query) -> Query:
    record = _read_json(line, "query line")
    if not isinstance(record, dict) or not isinstance(record.get("query"), str):
        raise ConfigError('must be an object like {"query": "...", "filters": {}}', subject="query line")
    if unknown := sorted(record.keys() - {"query", "filters"}):
        raise ConfigError(f"has the unknown key {unknown[0]!r}; known: query, filters", subject="query line")
    filters = {} if record.get("filters") is None else record["filters"]
    if not isinstance(filters, dict):
        raise ConfigError("must be an object of filter keys and values", subject="filters")
    own = filters_from_record(filters)
    kept = tuple(one for one in options.filters if one.field not in {mine.field for mine in own})
    checked = build_query(record["query"])
    return replace(options, text=checked.text, filters=tuple(sorted(kept + own, key=lambda one: one.field)))


Policy = Callable[[Query], str | None]
"""A query to the reason why it is refused, or None."""


def deny_list(terms: Iterable[str]) -> Policy:
    """Refuse questions that say one of *terms* as whole words, whatever the case; no terms refuse nothing."""
    named = sorted({" ".join(term.split()) for term in terms} - {""})
    pattern = re.compile("|".join(rf"(?<!\w){re.escape(term)}(?!\w)" for term in named), re.IGNORECASE)

    def decide(query: Query) -> str | None:
        match = pattern.search(" ".join(query.text.split())) if named else None
        return f"the deny list names {match[0].casefold()!r}" if match else None

    return decide


def read_policy(setting: str | None) -> Policy:
    """Return the policy of an installation: its setting lists denied terms with commas between."""
    return deny_list((setting or "").split(","))


ALLOW_ALL: Policy = deny_list(())
"""What holds where nobody denies anything."""


def check_policy(policy: Policy, query: Query) -> None:
    """Let a query pass, or not.

    Raises: QueryRefused: the policy says why.
    """
    if reason := policy(query):
        raise QueryRefused(f"is refused: {reason}", subject="query")
