"""Front matter of a Markdown file > what the document says of itself."""

import re
import tomllib
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import yaml

from ingest.dates import dated
from ingest.parse.access import (
    CLOSED,
    UNREAD,
    is_access_key,
    keys_name_access,
    names_access_at_top,
    names_access_in_block,
)
from ingest.parse.outline import MAX_HEADING
from schemas.access import EVERYTHING, is_group
from schemas.edges import EdgeKind
from schemas.fragment import Reference
from schemas.nodes import Dated, DateOrigin
from schemas.text import whole_text

MAX_BYTES = 65_536

_TOML = re.compile(r"\+\+\+[ \t]*\r?\n(.{0,65536}?)^\+\+\+[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
_FENCES = ("---", "...")
_RELATIONS = (EdgeKind.RELATES_TO, EdgeKind.DEPENDS_ON, EdgeKind.SUPERSEDES)
STATED_KEYS = frozenset(
    {"id", "title", "type", "domain", "status", "aliases", "access", *(kind.value for kind in _RELATIONS)}
)
"""Keys that are read of every front matter."""

_NO_LETTER = re.compile(r"[^a-z]")
_REPEATED = ("id", "title", "type", "domain", "status")
"""What each passage of the document has with it."""

_MODIFIED = (
    *("lastmodified", "lastmod", "modified", "datemodified", "modifieddate", "modifiedat", "lastupdated"),
    *("updated", "updatedat", "dateupdated", "updateddate", "lastupdate", "revised", "revisiondate"),
)
_PUBLISHED = (
    *("date", "published", "datepublished", "publishdate", "pubdate", "created", "datecreated", "createdat"),
)
"""Keys by their letters alone, as Hugo, Jekyll, MkDocs, Docusaurus, Obsidian and ADRs have them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontMatter:
    """What a front matter block states; a field it does not name is None."""

    doc_id: str | None = None
    title: str | None = None
    doc_type: str | None = None
    domain: str | None = None
    status: str | None = None
    names: tuple[str, ...] = ()
    references: tuple[Reference, ...] = ()
    modified: Dated | None = None
    access: tuple[str, ...] = ()


class _PlainLoader(yaml.SafeLoader):
    """Safe YAML without anchors and aliases, which can blow a few lines up to gigabytes."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        event = self.peek_event()  # type: ignore[no-untyped-call]
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
            raise yaml.YAMLError("anchors and aliases are not allowed")
        return super().compose_node(parent, index)


def _timestamp(loader: yaml.SafeLoader, node: yaml.ScalarNode) -> Any:
    """A date; what only looks like one (`2026-02-31`) stays a text, and the rest of the block is read."""
    try:
        return loader.construct_yaml_timestamp(node)
    except (ValueError, OverflowError):
        return loader.construct_scalar(node)


def _whole(loader: yaml.SafeLoader, node: yaml.ScalarNode) -> str:
    return whole_text(str(loader.construct_scalar(node)))


def _as_written(_loader: yaml.SafeLoader, node: yaml.ScalarNode) -> str:
    """A number as a text: an id `010` or `1:30` is none, and one of 60,000 digits cannot be printed."""
    return str(node.value)


_PlainLoader.add_constructor("tag:yaml.org,2002:timestamp", _timestamp)
_PlainLoader.add_constructor("tag:yaml.org,2002:str", _whole)
_PlainLoader.add_constructor("tag:yaml.org,2002:int", _as_written)
_PlainLoader.add_constructor("tag:yaml.org,2002:float", _as_written)


def split_front_matter(
    text: str, *, relations: Collection[str] = ()
) -> tuple[FrontMatter, str, tuple[str, ...]]:
    """Return what the block states, the body behind it, and warnings; *relations* are further relating keys.

    A block begins with `---` at the very first character and ends with a line `---` or `...`; one of TOML
    stands between two lines of `+++`. One that cannot
    be read is part of the body, and a warning says why. Where `access` is named in any other way than as a
    list of groups under this key, nobody sees the document but who sees everything.
    """
    of_toml = _cut_toml(text)
    cut = of_toml or _cut(text)
    if cut is None:
        return _unless_named(FrontMatter(), text, (), named=names_access_at_top(text))
    block, body = cut
    problem = "longer than 64 KB" if len(block.encode("utf-8", "replace")) > MAX_BYTES else None
    stated: Any = None
    keys: tuple[str, ...] = ()
    if problem is None:
        stated, keys, problem = _load(block)
    if problem is not None:
        named = names_access_in_block(block.splitlines()) or names_access_at_top(body)
        told = (f"front matter is read as text: {problem}",)
        return _unless_named(FrontMatter(), text, told, named=named)
    read = _front_matter(stated or {}, relations)
    if "access" not in (stated or {}) or of_toml is not None:
        is_text = bool(stated) and not body[:1].strip()
        named = bool(keys) or keys_name_access(stated) or names_access_at_top(body, is_headed=is_text)
        return _unless_named(read, body, (), named=named)
    access, warnings = _access(stated["access"], keys)
    return replace(read, access=access), body, warnings


def _unless_named(
    read: FrontMatter, body: str, warnings: tuple[str, ...], *, named: bool
) -> tuple[FrontMatter, str, tuple[str, ...]]:
    """What was read, closed where `access` is named and was not read."""
    if not named:
        return read, body, warnings
    return replace(read, access=CLOSED), body, (*warnings, UNREAD)


def _cut(text: str) -> tuple[str, str] | None:
    lines = text.splitlines(keepends=True)
    if not lines or lines[0].rstrip() != "---":
        return None
    for number, line in enumerate(lines[1:], start=1):
        if line.rstrip() in _FENCES:
            return "".join(lines[1:number]), "".join(lines[number + 1 :])
    return None


def _cut_toml(text: str) -> tuple[str, str] | None:
    """A block of TOML as YAML, by which it is read and looked through; None where none loads."""
    found = _TOML.match(text)
    try:
        stated = tomllib.loads(found[1].replace("\r\n", "\n")) if found else None
        return None if found is None else (yaml.safe_dump(stated, sort_keys=False), text[found.end() :])
    except (tomllib.TOMLDecodeError, yaml.YAMLError, RecursionError):
        return None


def _load(block: str) -> tuple[Any, tuple[str, ...], str | None]:
    """What a block states, its keys at any depth that name access, and why it cannot be read."""
    try:
        loader = _PlainLoader(block)
        node = loader.get_single_node()
        keys = tuple(_access_keys(node))
        stated = None if node is None else loader.construct_document(node)
    except yaml.MarkedYAMLError as error:  # in full it quotes the text, where a secret may stand, cut short
        line = f", line {error.problem_mark.line + 2}" if error.problem_mark else ""
        return None, (), f"{' '.join(str(error.problem).split())}{line}"
    except RecursionError:
        return None, (), "YAML is nested too deep"
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        return None, (), " ".join(str(error).split())[:200]
    if stated is not None and not isinstance(stated, dict):
        return None, (), "not a mapping of keys to values"
    long = (key for key in _REPEATED if len(_scalar((stated or {}).get(key)) or "") > MAX_HEADING)
    if key := next(long, None):
        return None, (), f"{key} is longer than {MAX_HEADING} characters"
    return stated, keys, None


def _access_keys(node: yaml.Node | None) -> Iterator[str]:
    """Keys at any depth with the word access, one that is written twice as often; texts with such a key."""
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if isinstance(key, yaml.ScalarNode) and is_access_key(key.value):
                yield key.value
            yield from _access_keys(value)
    elif isinstance(node, yaml.SequenceNode):
        for one in node.value:
            yield from _access_keys(one)
    elif (
        isinstance(node, yaml.ScalarNode)
        and "\n" in node.value
        and names_access_in_block(node.value.splitlines(), loosely=False)
    ):
        yield node.value


def _front_matter(stated: dict[Any, Any], relations: Collection[str]) -> FrontMatter:
    named: list[tuple[str, EdgeKind, str | None]] = [(kind.value, kind, None) for kind in _RELATIONS]
    named += [(key, EdgeKind.RELATES_TO, key) for key in relations]
    return FrontMatter(
        doc_id=_scalar(stated.get("id")),
        title=_scalar(stated.get("title")),
        doc_type=_scalar(stated.get("type")),
        domain=_scalar(stated.get("domain")),
        status=_scalar(stated.get("status")),
        names=tuple(dict.fromkeys(_scalars(stated.get("aliases")))),
        modified=_modified(stated),
        references=tuple(
            Reference(kind=kind, target=target, predicate=predicate)
            for key, kind, predicate in named
            for target in dict.fromkeys(_scalars(stated.get(key)))
        ),
    )


def _access(value: Any, keys: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Groups that the key names, in order, and a warning where it names none, or another key is like it."""
    names = _scalars(value)
    is_whole = bool(names) and len(names) == (len(value) if isinstance(value, list) else 1)
    is_list = is_whole and all(name == EVERYTHING or is_group(name) for name in names)
    if is_list and len(keys) == 1:
        return tuple(sorted(set(names))), ()
    what = "named more than once" if is_list else "no list of groups"
    return CLOSED, (f"access in the front matter is {what}; nobody sees it but in the whole index",)


def _modified(stated: dict[Any, Any]) -> Dated | None:
    """The date under the first key that has one.

    `last_update: {date: ...}` is Docusaurus's, `date: {created: ..., updated: ...}` MkDocs's.
    """
    flat: dict[str, Any] = {}
    for key, value in stated.items():
        for name, one in _parts(_name(key), value):
            flat.setdefault(name, one)
    for names, origin in ((_MODIFIED, DateOrigin.FRONT_MATTER), (_PUBLISHED, DateOrigin.PUBLISHED)):
        found = (dated(flat[name], origin) for name in names if name in flat)
        if date := next((one for one in found if one is not None), None):
            return date
    return None


def _parts(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """What is under a key, by the names of dates; of what else a mapping has (`author`) nothing is a date."""
    if not isinstance(value, dict):
        yield name, value
    elif name == "date":
        yield from ((_name(inner), one) for inner, one in value.items())
    elif name == "lastupdate":
        yield from ((name, one) for inner, one in value.items() if _name(inner) == "date")


def _name(key: Any) -> str:
    return _NO_LETTER.sub("", str(key).lower())


def _scalars(value: Any) -> tuple[str, ...]:
    values = value if isinstance(value, list) else [value]
    return tuple(text for text in map(_scalar, values) if text is not None)


def _scalar(value: Any) -> str | None:
    if value is None or isinstance(value, dict | list):
        return None
    text = str(value).strip()
    return text or None
