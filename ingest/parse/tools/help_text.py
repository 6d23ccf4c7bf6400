"""What a command prints with `--help`: its name, its options and its commands.

The forms are those of argparse, click, cobra, clap and GNU programs, which agree on little more than
`usage:` and on one option a line.
"""

import re
from collections.abc import Iterator

from ingest.parse.tools.description import ToolDescription
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
    rest = usage["rest"] or _line_after(text, usage.end())
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


def _line_after(text: str, end: int) -> str:
    return next((line for line in text[end:].splitlines() if line.strip()), "")


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
