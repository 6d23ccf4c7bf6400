"""Reads a Dockerfile and its .dockerignore, as far as ours go.

Source: the Dockerfile reference.
"""

import json
import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction; lines that were continued are one."""

    name: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """What stands between one FROM and the next."""

    name: str
    base: str
    instructions: tuple[Instruction, ...]

    def texts(self, name: str) -> tuple[str, ...]:
        """Everything that is said with one instruction."""
        return tuple(step.text for step in self.instructions if step.name == name)

    def last(self, name: str) -> str:
        """What is said last with an instruction; it holds."""
        return self.texts(name)[-1]

    def environment(self, before: Mapping[str, str]) -> dict[str, str]:
        """What ENV sets, over what the base has; `$NAME` stands for what was set before."""
        values = dict(before)
        for text in self.texts("ENV"):
            for word in shlex.split(text):
                key, _, value = word.partition("=")
                values[key] = re.sub(r"\$(\w+)", lambda match: values.get(match[1], ""), value)
        return values

    def command(self) -> tuple[str, ...]:
        """The CMD, which is in exec form."""
        return tuple(json.loads(self.last("CMD")))


def read_stages(dockerfile: Path) -> tuple[Stage, ...]:
    """Read the stages of a Dockerfile, in order."""
    stages: list[Stage] = []
    for step in _instructions(dockerfile.read_text(encoding="utf-8")):
        if step.name == "FROM":
            base, _, name = step.text.partition(" AS ")
            stages.append(Stage(name=name, base=base, instructions=()))
        elif stages:
            last = stages[-1]
            stages[-1] = Stage(name=last.name, base=last.base, instructions=(*last.instructions, step))
    return tuple(stages)


def _instructions(text: str) -> Iterator[Instruction]:
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    for joined in re.sub(r"\\\n", "", "\n".join(lines)).splitlines():
        name, _, rest = joined.strip().partition(" ")
        yield Instruction(name.upper(), re.sub(r"\s+", " ", rest).strip())


def copies(stage: Stage) -> Iterator[tuple[tuple[str, ...], str]]:
    """Return what a stage copies out of the build context: sources, and the target under its WORKDIR."""
    folder = "/"
    for step in stage.instructions:
        if step.name == "WORKDIR":
            folder = step.text
        if step.name == "COPY" and not step.text.startswith("--from="):
            *sources, target = step.text.split()
            yield tuple(sources), str(Path(folder) / target)


def is_ignored(path: str, patterns: tuple[str, ...]) -> bool:
    """Whether .dockerignore leaves a file out of the context; the last pattern that fits decides."""
    ignored = False
    for pattern in patterns:
        keep = pattern.startswith("!")
        if _fits(path, pattern.removeprefix("!").strip("/")):
            ignored = not keep
    return ignored


def _fits(path: str, pattern: str) -> bool:
    parts = path.split("/")
    wanted = pattern.removeprefix("**/")
    starts = range(len(parts)) if wanted != pattern else range(1)
    length = wanted.count("/") + 1
    return any(fnmatchcase("/".join(parts[start : start + length]), wanted) for start in starts)


def read_patterns(dockerignore: Path) -> tuple[str, ...]:
    """Read the patterns of a .dockerignore; a missing one has none."""
    lines = dockerignore.read_text(encoding="utf-8").splitlines() if dockerignore.exists() else []
    return tuple(line.strip() for line in lines if line.strip() and not line.startswith("#"))
