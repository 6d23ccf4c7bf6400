"""OpenAPI and Swagger documents: a section for each operation, under the tag that it has.

Sources: OpenAPI Specification 3.1.1, sections 4.8.7 to 4.8.24; Swagger 2.0. Fragments are JSON pointers (RFC
6901, 6), by which such documents lead to their own places.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain, islice, takewhile
from typing import Any
from urllib.parse import quote

from ingest.parse.access import keys_name_access
from ingest.parse.formats.sniffing import is_binary
from ingest.parse.links import FoundLink
from ingest.parse.outline import Block, BoxEnd, BoxStart, Heading, Part
from ingest.parse.secrets import find_in_source
from ingest.parse.tools.description import WrittenLoader, as_mapping, load_json, load_yaml
from ingest.parse.tools.lists import METHODS, Resolver
from schemas.errors import ParseError
from schemas.formats import DocumentFormat, ParseTools, SizeClass
from schemas.fragment import Explained, GraphFragment, ParseRequest

MAX_NESTING = 4
"""Fields in fields that are listed; a schema may lead back to itself without end."""

_MAX_CHAIN = 4 * MAX_NESTING
"""Schemas in one another, each of which is a field, the items of a list, or a part of what it stands in."""

MAX_FIELDS = 200
"""Fields listed of one body."""

MAX_ROWS = 100_000
"""Fields and schemas read of one document: a few references can stand for any number of them."""

_MAX_VALUES = 20
_MORE_FIELDS, _MORE_VALUES = "more fields than are listed", "more values than are listed"
_TYPES = ("application/vnd.oai.openapi", "application/vnd.oai.openapi+json", "application/json")
_YAML_TYPES = ("application/yaml", "application/x-yaml", "text/yaml", "text/x-yaml", "text/plain")
_YAML_KEY = re.compile(rb"""^['"]?(?:openapi|swagger)['"]?[ \t]*:[ \t]*['"]?[23]\.""", re.MULTILINE)
_NAMED = re.compile(r"(?:openapi|swagger)[^/]*\.(?:json|ya?ml)$")
_SORTED = re.compile(
    rb"""\{?\s*"?(?:basePath|components|consumes|definitions|externalDocs|host|info)"?\s*:"""
)
_JSON_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[{}\[\]]')
_JSON_VERSION = re.compile(rb'\s*:\s*"[23]\.')
_PROSE_MARKS = re.compile(r"[\n*_`\[<&\\#|]")


def _recognise(head: bytes, _content_type: str, name: str) -> bool:
    """Whether a file says that it is one; where its keys are sorted, too late to be seen, its name has to."""
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    if is_binary(head) or start.startswith(b"<"):
        return False
    is_said = _has_json_key(start) if start.startswith(b"{") else _YAML_KEY.search(start) is not None
    return is_said or (_NAMED.search(name) is not None and _SORTED.match(start) is not None)


def _has_json_key(head: bytes) -> bool:
    """Whether the version stands among the members of the whole object, not somewhere in it."""
    depth = 0
    for token in _JSON_TOKEN.finditer(head):
        depth += {b"{": 1, b"[": 1, b"}": -1, b"]": -1}.get(token[0], 0)
        if depth == 1 and token[0] in (b'"openapi"', b'"swagger"'):
            return _JSON_VERSION.match(head, token.end()) is not None
    return False


def _parse(data: bytes, request: ParseRequest, tools: ParseTools) -> GraphFragment:
    from ingest.parse.html.whole import assemble_document, say_missing

    try:
        api = _Api(load_api(data))
        parts = tuple(api.parts())
    except ParseError as error:
        raise ParseError(error.message, subject=request.uri) from error
    tools.left_out.add(chain.from_iterable(api.cut))
    cut = (f"more than {MAX_ROWS} fields; the rest was left out",) if api.rows_left <= 0 else ()
    return assemble_document(
        parts,
        tuple(api.links),
        request=request,
        kind=FORMAT.name,
        warnings=(*say_missing(tuple(api.missing)), *cut),
        count_tokens=tools.count_tokens,
    )


def load_api(data: bytes) -> Mapping[str, Any]:
    """Return the tree of a document. Raises: ParseError: it is no JSON or YAML, or names no version."""
    from ingest.parse.html.visibility import strip_invisible

    try:
        text = strip_invisible(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise ParseError("is not UTF-8 text") from error
    tree = as_mapping(
        load_json(text) if text.lstrip().startswith("{") else load_yaml(text, loader=WrittenLoader),
        "the file",
    )
    if not {"openapi", "swagger"} & tree.keys():
        raise ParseError("has no version; write `openapi:` or `swagger:` at its top")
    return tree


def _names_access(data: bytes, _content_type: str | None) -> bool:
    """Whether a key of the document itself or of its `info` does; operations speak of access in many ways."""
    tree = load_api(data)
    return keys_name_access(dict.fromkeys(tree)) or keys_name_access(tree.get("info"))


class _Api:
    """Reads one document; what is of a wrong type in it is passed over, as tools that show APIs do."""

    def __init__(self, tree: Mapping[str, Any]) -> None:
        self.links: list[FoundLink] = []
        self.missing: dict[str, None] = {}
        self.rows_left = MAX_ROWS
        self.cut: list[Explained] = []
        self._deep: set[str] = set()
        self._tree = tree
        self._resolver = Resolver(tree)
        self._said: dict[str, str] = {}

    def parts(self) -> Iterator[Part]:
        """Yield the title and what is said of all, then each tag with its operations."""
        info = _mapping(self._tree.get("info"))
        yield Heading(text=_text(info.get("title")) or "API", level=1)
        yield from self._rows(
            f"Version {_text(info['version'])}" if info.get("version") else "", self._servers(self._tree)
        )
        yield from self._rows("Authentication:", self._schemes())
        yield from self._prose(info.get("description"), level=1)
        told = {_text(tag.get("name")): tag for tag in map(_mapping, _list(self._tree.get("tags")))}
        groups: dict[str, list[Part]] = {"": [], **{name: [] for name in told if name}}
        for tag, parts in self._operations():
            groups.setdefault(tag, []).extend(parts)
        for tag, parts in groups.items():
            if tag:
                yield Heading(text=tag, level=2)
                yield from self._prose(told.get(tag, {}).get("description"))
            yield from parts

    def _servers(self, told: Mapping[str, Any]) -> Iterator[str]:
        for server in map(_mapping, _list(told.get("servers"))):
            yield f"Server: {_text(server.get('url'))}" + self._after(server)
        if host := _text(told.get("host")):
            yield f"Server: {host}{_text(told.get('basePath'))}"

    def _schemes(self) -> Iterator[str]:
        components = _mapping(self._tree.get("components"))
        schemes = components.get("securitySchemes") or self._tree.get("securityDefinitions")
        for name, value in _mapping(schemes).items():
            scheme = self._follow(value)
            how = (_text(scheme.get(key)) for key in ("type", "scheme", "in", "name"))
            yield f"- {name} ({', '.join(filter(None, how))})" + self._after(scheme)

    def _operations(self) -> Iterator[tuple[str, list[Part]]]:
        for where in ("paths", "webhooks"):
            for path, value in as_mapping(self._tree.get(where), where).items():
                item = self._follow(value)
                for method in (name for name in METHODS if isinstance(item.get(name), dict)):
                    pointer = f"/{where}/{path.replace('~', '~0').replace('/', '~1')}/{method}"
                    tags = [tag for tag in _list(item[method].get("tags")) if isinstance(tag, str)]
                    name = f"{method.upper()} {path}" + (" (webhook)" if where == "webhooks" else "")
                    parts = self._operation(name, pointer, item, item[method], 3 if tags else 2)
                    yield tags[0] if tags else "", list(parts)

    def _operation(
        self, name: str, pointer: str, item: Mapping[str, Any], told: Mapping[str, Any], level: int
    ) -> Iterator[Part]:
        summary = self._line(told.get("summary") or item.get("summary"))
        fragment = quote(pointer, safe="/~:@!$&'()*+,;=-._")
        yield Heading(text=f"{name}: {summary}" if summary else name, level=level, fragment=fragment)
        facts = [f"Operation: {_text(told['operationId'])}"] if _text(told.get("operationId")) else []
        more = [tag for tag in _list(told.get("tags"))[1:] if isinstance(tag, str)]
        facts += [f"Also under: {', '.join(more)}"] if more else []
        facts += [*self._servers({**item, **told})]
        yield from self._rows("Deprecated." if told.get("deprecated") is True else "", facts)
        for said in dict.fromkeys(_text(one.get("description")) for one in (told, item)):
            yield from self._prose(said)
        listed = map(self._follow, (*_list(item.get("parameters")), *_list(told.get("parameters"))))
        parameters = {(_text(one.get("in")), _text(one.get("name"))): one for one in listed}
        body = parameters.pop(("body", next((n for i, n in parameters if i == "body"), "")), None)
        rows = (row for one in parameters.values() for row in self._parameter(one))
        yield from self._rows("Parameters:", islice(rows, MAX_FIELDS))
        if body is not None:  # as Swagger 2 has it
            yield from self._body("Request body", body, body.get("schema"))
        sent = self._follow(told.get("requestBody"))
        if sent:
            yield from self._body("Request body", sent)
        for status, value in _mapping(told.get("responses")).items():
            answer = self._follow(value)
            yield from self._body(f"Response {status}", answer, answer.get("schema"))

    def _parameter(self, one: Mapping[str, Any]) -> Iterator[str]:
        """Yield the row of a parameter, and those of what stands in it."""
        schema, name = self._stated(one.get("schema") or one), _text(one.get("name"))
        yield self._row(name, _joined(one, under=schema), schema, one.get("required") is True)
        yield from self._fields(one.get("schema") or one, name, ())

    def _body(self, label: str, told: Mapping[str, Any], schema: Any = None) -> Iterator[Part]:
        content = _mapping(told.get("content"))
        media = "application/json" if "application/json" in content else next(iter(content), "")
        facts = [media] if media else []
        facts += [one for one in islice(content, _MAX_VALUES) if one != media]
        facts += ["required"] if told.get("required") is True else []
        head = label + (f" ({', '.join(facts)})" if facts else "") + self._after(told)
        schemas = [schema] if schema else []
        for other in (media, *content) if media else ():
            one = _mapping(content[other]).get("schema")
            schemas += [one] if one and one not in schemas else []
        bodies = (part for one in schemas for part in (self._itself(one, ""), self._fields(one, "", ())))
        fields = chain(self._headers(told), chain.from_iterable(bodies))
        rows = list(islice(fields, MAX_FIELDS + 1))
        if len(rows) > MAX_FIELDS:
            self.cut.append((_MORE_FIELDS, row) for row in chain(rows[MAX_FIELDS:], fields))
            rows[MAX_FIELDS:] = ["[… more fields]"]
        yield from self._rows(head, rows, bare=True)

    def _headers(self, told: Mapping[str, Any]) -> Iterator[str]:
        for name, value in _mapping(told.get("headers")).items():
            yield from self._parameter({**self._follow(value), "name": name, "in": "header"})

    def _itself(self, value: Any, path: str) -> Iterator[str]:
        """Yield a row for a schema that no field is of, where something is said of it."""
        stated = self._stated(value)
        if _text(stated.get("description")) or _list(stated.get("enum")):
            yield self._row(path, {**stated, "in": None}, stated, False)

    def _fields(self, value: Any, path: str, above: tuple[str, ...], depth: int = 0) -> Iterator[str]:
        """Yield a row for each field of a schema, and for those in it, but for schemas that it stands in."""
        self.rows_left -= 1
        schema, name = self._follow(value), str(_mapping(value).get("$ref", ""))
        if len(above) > _MAX_CHAIN or (name and name in above):
            return
        if depth > MAX_NESTING:
            if (name or path) not in self._deep:
                self._deep.add(name or path)
                self.cut.append((_MORE_FIELDS, row) for row in self._fields(value, path, above))
            return
        above = (*above, name)
        parts = ((key, one) for key in ("allOf", "oneOf", "anyOf") for one in _list(schema.get(key)))
        for key, one in takewhile(lambda _: self.rows_left > 0, parts):
            yield from self._itself(one, path) if key != "allOf" else ()
            yield from self._fields(one, path, above, depth)
        for key, at in (("items", f"{path}[]"), ("additionalProperties", f"{path}.*" if path else "*")):
            if isinstance(schema.get(key), dict):
                yield from self._itself(schema[key], at)
                yield from self._fields(schema[key], at, above, depth)
        properties = _mapping(schema.get("properties"))
        for field, inner in takewhile(lambda _: self.rows_left > 0, properties.items()):
            at, told = f"{path}.{field}" if path else field, self._stated(inner)
            is_required = field in _list(schema.get("required"))
            yield self._row(at, {**told, "in": None}, told, is_required)
            yield from self._fields(inner, at, above, depth + 1)

    def _row(self, name: str, told: Mapping[str, Any], schema: Mapping[str, Any], required: bool) -> str:
        facts = [_text(told.get("in")), self._type(schema), "required" if required else ""]
        facts += ["deprecated" if told.get("deprecated") is True else ""]
        values = [_written(one) for one in _list(schema.get("enum"))]
        cut = ", …" if len(values) > _MAX_VALUES else ""
        self.cut += [[(_MORE_VALUES, "\n".join(values[_MAX_VALUES:]))]] if cut else []
        facts += [f"one of: {', '.join(values[:_MAX_VALUES])}{cut}"] if values else []
        default = schema.get("default")
        facts += [f"default: {_written(default)}"] if isinstance(default, str | int | float) else []
        stated = ", ".join(filter(None, facts))
        head = " ".join(filter(None, ("-", name, f"({stated})" if stated else "")))
        return f"{head}{self._after(told)}".removeprefix("-: ")

    def _type(self, schema: Mapping[str, Any]) -> str:
        kind = schema.get("type")
        if isinstance(kind, list):
            kind = " or ".join(one for one in kind if isinstance(one, str))
        if kind == "array":
            inner = _text(self._stated(schema.get("items")).get("type"))
            return f"array of {inner}" if inner else "array"
        return " ".join(filter(None, (_text(kind), _text(schema.get("format")))))

    def _stated(self, value: Any, depth: int = 0) -> Mapping[str, Any]:
        """Return what is said of a schema: beside a reference, where that leads to, and in its `allOf`."""
        schema, said = self._follow(value), dict[str, Any]()
        parts = _list(schema.get("allOf")) if depth < MAX_NESTING else []
        for part in takewhile(lambda _: self.rows_left > 0, parts):
            self.rows_left -= 1
            said = _joined(self._stated(part, depth + 1), under=said)
        said = _joined(schema, under=said)
        return _joined(_mapping(value), under=said) if "$ref" in _mapping(value) else said

    def _follow(self, value: Any) -> Mapping[str, Any]:
        """Return what a mapping with `$ref` stands for; nothing where that is not in this file."""
        at = _mapping(value)
        for _ in range(MAX_NESTING):
            reference = at.get("$ref")
            if not isinstance(reference, str):
                return at
            try:
                at = _mapping(self._resolver.find(reference))
            except ParseError:
                self.missing[reference] = None
                return {}
        return {}

    def _rows(self, head: str, rows: Iterable[str], *, bare: bool = False) -> Iterator[Part]:
        lines = list(rows)
        if lines or bare or not head.endswith(":"):
            text = "\n".join(filter(None, (head, *lines)))
            yield from [Block(text=text)] if text else []

    def _prose(self, value: Any, level: int = 0) -> Iterator[Part]:
        """Yield a description, which is Markdown; *level*: headings in it are sections below that."""
        from ingest.parse.markdown.page import read_markdown

        read = read_markdown(_text(value))
        self.links += read.links
        if level:
            headed = (
                isinstance(one, Heading) and replace(one, level=one.level + level) for one in read.parts
            )
            yield from (new or one for new, one in zip(headed, read.parts, strict=True))
        elif read.parts:
            yield from (BoxStart(), *read.parts, BoxEnd())

    def _after(self, told: Mapping[str, Any]) -> str:
        said = self._line(told.get("description"))
        return f": {said}" if said else ""

    def _line(self, value: Any) -> str:
        """Return a text of Markdown on one line; the same stand in many rows."""
        from ingest.parse.markdown.page import read_markdown

        text = _text(value)
        if _PROSE_MARKS.search(text) is None:
            return " ".join(text.split())
        if text not in self._said:
            read = read_markdown(text)
            self.links += [replace(link, key=None) for link in read.links]
            self._said[text] = " ".join(" ".join(getattr(one, "text", "") for one in read.parts).split())
        return self._said[text]


def _joined(over: Mapping[str, Any], *, under: Mapping[str, Any]) -> dict[str, Any]:
    """Return what two say of the same; what they say in words stands together."""
    said = dict.fromkeys(_text(one.get("description")) for one in (over, under))
    return {**under, **over, "description": "\n\n".join(filter(None, said))}


def _written(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _mapping(value: Any) -> dict[str, Any]:
    return {str(key): one for key, one in value.items()} if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _text(value: Any) -> str:
    return value.strip() if isinstance(value, str) else str(value) if isinstance(value, int | float) else ""


FORMAT = DocumentFormat(
    name="openapi",
    version="1",
    parse=_parse,
    recognise=_recognise,
    shared_suffixes=(".json", ".yaml", ".yml"),
    media_types=_TYPES,
    shared_types=_YAML_TYPES,
    size=SizeClass.FILE,
    is_text=True,
    unread_secrets=find_in_source,
    names_access=_names_access,
    end=b"}",
)
