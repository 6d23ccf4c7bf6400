"""Tools named by what documents them: the help text of a command, the inventory of a Sphinx site.

The forms of help are those of argparse, click, cobra, clap and GNU programs, which agree on little more than
`usage:` and on one option a line.

Where an inventory says that names stand is not read: the chunks themselves tell, and go on telling when pages
move. Source: sphinx.util.inventory, version 2 of the format: four header lines, then zlib over lines of
`name domain:role priority uri display name`.
"""

import re
import zlib
from collections.abc import Iterable, Iterator

from ingest.parse.tools.description import MAX_TOOLS, ToolDescription
from schemas.errors import ParseError

USAGE = re.compile(r"^[ \t]*usage:[ \t]*(?P<rest>.*)$", re.IGNORECASE | re.MULTILINE)

_EMPTY_LINE = re.compile(r"\n[ \t]*\n")
_NAME = re.compile(r"[\w./~][\w.+/\\:-]*")
_FLAG = re.compile(r"(?<![\w-])(?:--?[A-Za-z0-9?][\w?-]*)")
_OPTION_LINE = re.compile(r"^[ \t]+(?P<flags>-{1,2}[A-Za-z0-9?].*)$", re.MULTILINE)
_TITLE = re.compile(r"^(?P<title>\S.*?):?[ \t]*$")
_COMMANDS = re.compile(r"\b(?:sub)?commands?\b", re.IGNORECASE)
_COMMAND_LINE = re.compile(
    r"^[ \t]{1,8}(?P<name>[a-z0-9][\w:.-]*)(?:,[ \t]*[\w-]+)*(?:[ \t]{2,}(?P<about>\S.*))?$"
)


def parse_help(text: str) -> tuple[ToolDescription, ...]:
    """Return the command and, where its help lists them, the commands of it (`flask`, `flask run`).

    Raises: ParseError: no line says how it is used.
    """
    usage = USAGE.search(text)
    if usage is None:
        raise ParseError("has no line `usage:` that names the command")
    rest = usage["rest"] or next((line for line in text[usage.end() :].splitlines() if line.strip()), "")
    name = _command(rest.split())
    if not name:
        raise ParseError("its line `usage:` names no command")
    options = {flag for line in _OPTION_LINE.finditer(text) for flag in _flags(line["flags"])}
    options |= set(_FLAG.findall(rest))
    command = ToolDescription(
        name=name,
        tool_type="command",
        options=tuple(sorted(options)),
        description=_about(text, usage.start(), usage.end()),
    )
    return (command, *_commands(text, name))


def _command(words: list[str]) -> str:
    """The words before the first that stands for something: `[OPTIONS]`, `<file>`, `FILE`, `-x`, `{a,b}`."""
    taken: list[str] = []
    for word in words:
        stands_for = taken and word.isupper() and len(word) > 1
        if not _NAME.fullmatch(word) or stands_for or word.endswith(("...", ":")):
            break
        taken.append(word)
    if not taken:
        return ""
    program = re.split(r"[/\\]", taken[0])[-1]
    if words[1:2] == ["-m"] and len(words) > 2:  # python -m module
        return " ".join((program, *words[1:3]))
    return " ".join((program, *taken[1:]))


def _flags(line: str) -> Iterator[str]:
    """The flags that a line explains; those of the explanation behind two spaces are others'."""
    yield from _FLAG.findall(re.split(r"[ \t]{2,}", line, maxsplit=1)[0])


def _about(text: str, start: int, end: int) -> str:
    """What the command is for: before the usage (clap, cobra), right under it (GNU), or in a paragraph behind
    it (argparse, click) that is neither a title nor an option.
    """
    if before := text[:start].strip():
        return re.split(_EMPTY_LINE, before)[0]
    usage, *paragraphs = re.split(_EMPTY_LINE, text[end:])
    if under := [line for line in usage.splitlines()[1:] if line[:1].isupper()]:
        return " ".join(under)
    for paragraph in paragraphs:
        words = paragraph.strip()
        if words and not words.startswith("-") and not words.splitlines()[0].rstrip().endswith(":"):
            return words
    return ""


def _commands(text: str, program: str) -> Iterator[ToolDescription]:
    """Commands listed under a title that says so."""
    listing = False
    seen: set[str] = set()
    for line in text.splitlines():
        title = _TITLE.match(line)
        if title and not line[0].isspace():
            listing = bool(_COMMANDS.search(title["title"])) and len(title["title"].split()) <= 3
        elif listing and (match := _COMMAND_LINE.match(line)) and match["name"] not in seen:
            seen.add(match["name"])
            yield ToolDescription(
                name=f"{program} {match['name']}", tool_type="command", description=match["about"] or ""
            )


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
