"""The file of a page with what is new on it; every other byte stays as a person left it."""

from collections.abc import Mapping
from typing import Any

import yaml

from retrieval.wiki.front_matter import (
    BLOCK,
    LOADER,
    dump_keys,
    dump_page,
    parse_page,
    plain_text,
    stated_keys,
)
from retrieval.wiki.page import WikiPage
from schemas.errors import ParseError

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
