"""The commands that the README and the manual show, as a shell would read them."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

REPO = Path(__file__).resolve().parents[2]
PAGES = sorted(
    [
        REPO / "README.md",
        REPO / "CONTRIBUTING.md",
        REPO / "deploy" / "runbook.md",
        *(REPO / "docs").rglob("*.md"),
    ]
)
COMMANDS = frozenset({"", "sh", "bash", "shell", "console"})
"""Labels of blocks of commands; in `console`, lines that begin with `$ ` are, and the others are output."""

OTHERS = frozenset(
    {"text", "python", "json", "toml", "yaml", "yml", "html", "css", "xml", "cypher", "ini", "mermaid"}
)

_BLOCK = re.compile(r"^( *)```([^\n]*)\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
_OPTIONAL = re.compile(r"\[[^\[\]]*\](?:\.\.\.)?")
_OTHER_OPTION = re.compile(r" \| --[\w-]+ [A-Z]+")


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block of a page: its label, its text, and the line of the page where the text begins."""

    page: str
    line: int
    label: str
    text: str


@dataclass(frozen=True, slots=True)
class Command:
    """A line of a block of commands, with the lines that continue it, without its comment."""

    page: str
    line: int
    text: str

    @property
    def is_synopsis(self) -> bool:
        """Whether it shows what can be typed (`[--due]`, `URL|FILE`), not what is."""
        return bool(re.search(r"[\[|]|\.\.\.", _QUOTED.sub("''", self.text)))

    def __str__(self) -> str:
        return f"{self.page}:{self.line}: {self.text}"


def blocks(page: Path) -> tuple[Block, ...]:
    """The fenced blocks of a page."""
    text = page.read_text(encoding="utf-8")
    name = str(page.relative_to(REPO))
    return tuple(
        Block(name, text.count("\n", 0, found.start(3)) + 1, found[2].strip(), _dedent(found))
        for found in _BLOCK.finditer(text)
    )


def _dedent(found: re.Match[str]) -> str:
    return re.sub(f"^{found[1]}", "", found[3], flags=re.MULTILINE)


@cache
def every_block() -> tuple[Block, ...]:
    """The blocks of all pages."""
    return tuple(block for page in PAGES for block in blocks(page))


def commands_of(block: Block) -> Iterator[Command]:
    """The commands of a block; none of a block of something else."""
    if block.label not in COMMANDS:
        return
    begun: list[tuple[int, str]] = []
    for number, line in enumerate(block.text.splitlines(), start=block.line):
        text = line.removeprefix("$ ") if block.label == "console" else line
        if block.label == "console" and text == line:
            continue
        if begun and (begun[-1][1].endswith("\\") or text.startswith(" ")):
            begun[-1] = (begun[-1][0], f"{begun[-1][1].removesuffix(chr(92)).rstrip()} {text.strip()}")
        elif text.strip() and not text.startswith("#"):
            begun.append((number, text))
    for number, text in begun:
        yield Command(block.page, number, without_comment(text))


def every_command() -> tuple[Command, ...]:
    """The commands of all pages."""
    return tuple(command for block in every_block() for command in commands_of(block))


def without_comment(text: str) -> str:
    """Cut off what a shell would: ` #` outside quotes, and what follows."""
    quoted = [found.span() for found in _QUOTED.finditer(text)]
    for found in re.finditer(r"\s#", text):
        if not any(first < found.start() < last for first, last in quoted):
            return text[: found.start()].rstrip()
    return text.rstrip()


def shortest(synopsis: str) -> str:
    """The shortest command that a synopsis allows: the first of several words, 1 for a number."""
    kept = _OTHER_OPTION.sub("", _OPTIONAL.sub("", synopsis)).replace("...", "")
    kept = kept.replace(" GENERATION", " 1")
    return " ".join(word if word[0] in "'\"" else word.partition("|")[0] for word in kept.split())


def options_of(synopsis: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The options that a synopsis names, with the lower-case values from which one is chosen."""
    words = re.sub(r"[\[\]]|\.\.\.", " ", synopsis).split()
    found = []
    for word, following in zip(words, [*words[1:], ""], strict=True):
        chosen = (
            tuple(following.split("|"))
            if re.fullmatch(r"[a-z][a-z0-9]*(\|[a-z][a-z0-9]*)+", following)
            else ()
        )
        if word.startswith("--"):
            found += [(name, chosen) for name in word.split("/")]
    return tuple(found)


def simple_commands(text: str) -> tuple[tuple[tuple[str, ...], dict[str, str]], ...]:
    """The words of each command of a line, with the variables that are set for it (`A=1 program`)."""
    found = []
    for part in re.split(r"\s&&\s", text):
        words = shlex.split(re.sub(r"\s+>\s+\S+$", "", part))
        variables = {}
        while words and re.fullmatch(r"[A-Z_]+=.*", words[0]):
            name, _, value = words.pop(0).partition("=")
            variables[name] = value
        found.append((tuple(words), variables))
    return tuple(found)
