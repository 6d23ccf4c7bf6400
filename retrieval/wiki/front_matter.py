"""The file of a page: YAML front matter, then Markdown. `parse_page(dump_page(page)) == page`."""

import re
from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any, TypeVar

import yaml

from retrieval.wiki.page import AnswerSet, Contradiction, Fact, PageStatus, WikiPage
from schemas.errors import ParseError
from schemas.records import to_record

BLOCK_MAX = 65_536
"""Characters of front matter that are read; a page that rests on 400 passages needs about half."""

NESTING_MAX = 50
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""In C where PyYAML has it: every question reads all pages."""

BLOCK = re.compile(r"---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_UNWRITABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
Row = TypeVar("Row", Fact, Contradiction, AnswerSet)
_TEXTS = ("title", "summary", "query", "written_at", "status_since", "filed_sha256")
_KEYS = (
    *("title", "summary", "category", "status", "status_since", "query", "generation", "written_at"),
    *("rests_on", "ranges_over", "facts", "contradictions", "filed_sha256"),
)


def parse_page(text: str, *, category: str, slug: str) -> WikiPage:
    """Read the file of a page; where it stands says its category and slug.

    Raises: ParseError: no front matter, one that is no YAML, or a key with a value that it cannot have; the
    message says which line or key, and what belongs there.
    """
    path = f"{category}/{slug}.md"
    match = BLOCK.match(text.removeprefix("\ufeff").replace("\r\n", "\n"))
    if match is None:
        raise ParseError("has no front matter: begin with a line ---, title: ..., a line ---", subject=path)
    stated = _load(match[1], path)
    if stated.get("category", category) != category:
        raise ParseError(f"category must be {category!r}, the folder it is in", subject=path)
    texts = {key: _text(stated, key, path) for key in _TEXTS}
    if not texts["title"]:
        raise ParseError("title is missing; write title: what the page is about", subject=path)
    return WikiPage(
        category=category,
        slug=slug,
        body=match.string[match.end() :].strip(),
        rests_on=_rests_on(stated, path),
        generation=_generation(stated, path),
        status=_status(stated, path),
        ranges_over=_rows(stated, "ranges_over", AnswerSet, path),
        facts=_rows(stated, "facts", Fact, path),
        contradictions=_rows(stated, "contradictions", Contradiction, path),
        extra={key: value for key, value in stated.items() if key not in _KEYS},
        **texts,
    )


def dump_page(page: WikiPage) -> str:
    """Write a page as its file: known keys first, those without a value left out, then a person's own."""
    block = dump_keys({**stated_keys(page), **page.extra})
    return f"---\n{block}---\n\n{plain_text(page.body)}\n"


def stated_keys(page: WikiPage) -> dict[str, Any]:
    """Return the known keys of a page's front matter, in order, those without a value left out."""
    record = to_record(page)
    stated = {key: _written(record[key]) for key in _KEYS}
    return {key: value for key, value in stated.items() if value not in ("", None, {}, [])}


def _written(value: Any) -> Any:
    match value:
        case str():
            return plain_line(value)
        case list():
            return [{key: plain_line(text) for key, text in row.items() if text} for row in value]
        case _:
            return value


def dump_keys(stated: Mapping[str, Any]) -> str:
    """Write keys and values as lines of a front matter."""
    return str(yaml.safe_dump(dict(stated), sort_keys=False, allow_unicode=True, width=110))


def plain_line(text: str) -> str:
    """Return a text on one line, without characters that YAML or UTF-8 cannot contain."""
    return " ".join(_UNWRITABLE.sub(" ", text).split())


def plain_text(text: str) -> str:
    """Return a body without such characters and without white space at its ends."""
    return _UNWRITABLE.sub(" ", text.replace("\r\n", "\n").replace("\r", "\n")).strip()


def _check_events(block: str) -> None:
    """Refuse anchors and aliases, which can blow a few lines up to gigabytes, and what nests without end.

    Refused too are tags such as `!!bool`: what follows one may be what the loader cannot turn into it.
    """
    depth = 0
    for event in yaml.parse(block, Loader=LOADER):
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
            raise yaml.YAMLError("anchors and aliases are not allowed")
        if getattr(event, "tag", None) is not None:
            raise yaml.YAMLError("tags are not allowed")
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > NESTING_MAX:
            raise yaml.YAMLError("it is nested too deeply")


def _load(block: str, path: str) -> dict[str, Any]:
    if len(block) > BLOCK_MAX:
        raise ParseError(f"front matter is longer than {BLOCK_MAX} characters", subject=path)
    try:
        _check_events(block)
        stated = yaml.load(block, Loader=LOADER)  # noqa: S506 - one of the two safe loaders
    except yaml.MarkedYAMLError as error:
        line = f", line {error.problem_mark.line + 2}" if error.problem_mark else ""
        raise ParseError(f"front matter is not valid YAML: {error.problem}{line}", subject=path) from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise ParseError(f"front matter is not valid YAML: {str(error)[:200]}", subject=path) from error
    if not isinstance(stated, dict) or not all(isinstance(key, str) for key in stated):
        raise ParseError("front matter must be keys and values, such as title: Leases", subject=path)
    return stated


def _text(stated: Mapping[str, Any], key: str, path: str) -> str:
    value = stated.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise ParseError(f"{key} must be a text; put it in quotes", subject=path)
    return plain_line(value)


def _generation(stated: Mapping[str, Any], path: str) -> int | None:
    value = stated.get("generation")
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 0):
        raise ParseError("generation must be a whole number", subject=path)
    return value


def _status(stated: Mapping[str, Any], path: str) -> PageStatus:
    value = stated.get("status", PageStatus.CURRENT)
    if value not in list(PageStatus):
        raise ParseError(f"status must be one of {', '.join(PageStatus)}, not {value!r}", subject=path)
    return PageStatus(value)


def _rests_on(stated: Mapping[str, Any], path: str) -> dict[str, str]:
    value = stated.get("rests_on") or {}
    if not isinstance(value, dict) or not all(
        isinstance(part, str) for pair in value.items() for part in pair
    ):
        raise ParseError("rests_on must map chunk ids to content hashes, both in quotes", subject=path)
    return value


def _rows(stated: Mapping[str, Any], key: str, cls: type[Row], path: str) -> tuple[Row, ...]:
    rows = stated.get(key) or []
    names = [f.name for f in fields(cls)]
    needed = {f.name for f in fields(cls) if f.default is MISSING}
    for row in rows if isinstance(rows, list) else [None]:
        if (
            not isinstance(row, dict)
            or not needed <= row.keys() <= set(names)
            or not all(isinstance(value, str) for value in row.values())
        ):
            raise ParseError(f"{key} must be a list of {{{', '.join(names)}}}, all texts", subject=path)
    return tuple(cls(**row) for row in rows)


_MARK = "\ufeff"

Span = tuple[int, int]
"""First line of a key, and the line behind its value."""


def restate_page(text: str, page: WikiPage, by: WikiPage) -> str:
    """Return *text*, the file of *page*, as that of *by*: what differs of keys and body is written again.

    Comments, the order and the spelling of other keys, line ends and a byte order mark stay. Where that gives
    another page, as of front matter in braces, the file is written as any new one.
    """
    restated = _restate(text, page, by)
    try:
        if restated is not None and parse_page(restated, category=by.category, slug=by.slug) == by:
            return restated
    except ParseError:
        pass
    return dump_page(by)


def _restate(text: str, page: WikiPage, by: WikiPage) -> str | None:
    plain = text.removeprefix(_MARK).replace("\r\n", "\n")
    match = BLOCK.match(plain)
    spans = _spans(match[1]) if match else None
    if match is None or spans is None:
        return None
    block = _change(match[1].split("\n"), spans, stated_keys(page), stated_keys(by))
    behind = plain[match.end() :] if page.body == by.body else f"\n{plain_text(by.body)}\n"
    close = plain[match.end(1) : match.end()].rstrip("\n")
    whole = f"{plain[: match.start(1)]}{block}{close}\n{behind}"
    return text[: text.startswith(_MARK)] + (whole.replace("\n", "\r\n") if "\r\n" in text else whole)


def _change(lines: list[str], spans: Mapping[str, Span], old: dict[str, Any], new: dict[str, Any]) -> str:
    """Write keys whose values differ where they stood, the last of them first, and new ones at the end."""
    changed = [key for key in old | new if old.get(key) != new.get(key)]
    for key in sorted(changed, key=lambda one: spans.get(one, (len(lines), 0)), reverse=True):
        start, end = spans.get(key, (len(lines) - 1, len(lines) - 1))
        lines[start:end] = dump_keys({key: new[key]}).splitlines() if key in new else []
    return "\n".join(lines)


def _spans(block: str) -> dict[str, Span] | None:
    """Return where each key stands; None where keys do not stand on lines of their own."""
    node = yaml.compose(block, Loader=LOADER)
    if not isinstance(node, yaml.MappingNode) or node.flow_style:
        return None
    return {key.value: (key.start_mark.line, _last_line(value) + 1) for key, value in node.value}


def _last_line(node: yaml.Node) -> int:
    """Return line on which a value ends: of a list in lines that of its last part, not of the next key."""
    if isinstance(node, yaml.CollectionNode) and node.value and not node.flow_style:
        last = node.value[-1]
        return _last_line(last[1] if isinstance(last, tuple) else last)
    ends_before = node.end_mark.column == 0 and node.end_mark.line > node.start_mark.line
    return node.end_mark.line - ends_before
