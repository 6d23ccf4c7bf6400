"""Sphinx's `objects.inv`: the names a documentation defines, by domain and role.

Where it says that they stand is not read: the chunks themselves tell, and go on telling when pages move.

Source: sphinx.util.inventory, version 2 of the format: four header lines, then zlib over lines of
`name domain:role priority uri display name`.
"""

import re
import zlib
from collections.abc import Iterable, Iterator

from ingest.parse.tools.description import MAX_TOOLS, ToolDescription
from schemas.errors import ParseError

HEADER = b"# Sphinx inventory version"
MAX_UNPACKED = 64 * 1024 * 1024

_LINE = re.compile(
    r"(?P<name>.+?)\s+(?P<domain>[^\s:]+):(?P<role>\S+)\s+-?\d+\s+(?P<uri>\S*)\s+(?P<shown>.*)"
)
_HTTP = "http"
_OPTION, _VARIABLE = ("std", "cmdoption"), ("std", "envvar")


def parse_inventory(data: bytes) -> tuple[ToolDescription, ...]:
    """Return what can be called or set: everything but pages, labels and terms of the text (domain `std`).

    The options of a program (`std:cmdoption`, named `program.--option`) become one tool.

    Raises: ParseError: another version, damaged, or more than MAX_UNPACKED bytes.
    """
    header, _, packed = _cut(data)
    if not header.rstrip().endswith(b" 2"):
        raise ParseError("is an inventory of another version than 2; build the documentation again")
    options: dict[str, set[str]] = {}
    found: dict[tuple[str, str], ToolDescription] = {}
    for name, domain, role, shown in _entries(_unpack(packed)):
        if (domain, role) == _OPTION:
            program, dot, option = name.partition(".-")
            if dot:
                options.setdefault(program, set()).add(f"-{option}")
        elif domain != "std" or (domain, role) == _VARIABLE:
            found[f"{domain}:{role}", name] = _tool(name, domain, role, shown)
        if len(found) > MAX_TOOLS:
            raise ParseError(f"names more than {MAX_TOOLS} objects")
    return (*found.values(), *_programs(options))


def _cut(data: bytes) -> tuple[bytes, bytes, bytes]:
    lines = data.split(b"\n", 4)
    if len(lines) < 5 or not data.startswith(HEADER):
        raise ParseError("is not a Sphinx inventory")
    return lines[0], b"\n".join(lines[1:4]), lines[4]


def _unpack(packed: bytes) -> str:
    unpacking = zlib.decompressobj()
    try:
        text = unpacking.decompress(packed, MAX_UNPACKED)
    except zlib.error as error:
        raise ParseError(f"the inventory is damaged ({error})") from None
    if unpacking.unconsumed_tail:
        raise ParseError(f"the inventory unpacks to more than {MAX_UNPACKED} bytes")
    if not unpacking.eof:
        raise ParseError("the inventory is cut short")
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError:
        raise ParseError("the inventory is damaged (not UTF-8)") from None


def _entries(text: str) -> Iterator[tuple[str, str, str, str]]:
    for line in text.split("\n"):
        match = _LINE.fullmatch(line.rstrip())
        if match:
            yield match["name"], match["domain"], match["role"], match["shown"]
        elif line.strip():
            raise ParseError(f"the inventory is damaged (line {line[:80]!r})")


def _tool(name: str, domain: str, role: str, shown: str) -> ToolDescription:
    aliases = () if shown in ("-", name) else (shown,)
    kind = f"{domain}:{role}"
    if domain == _HTTP:
        return ToolDescription(
            name=f"{role.upper()} {name}", tool_type=kind, endpoints=(f"{role.upper()} {name}",)
        )
    return ToolDescription(name=name, tool_type=kind, aliases=aliases)


def _programs(options: dict[str, set[str]]) -> Iterable[ToolDescription]:
    return (
        ToolDescription(name=program, tool_type="std:program", options=tuple(sorted(names)))
        for program, names in sorted(options.items())
    )
