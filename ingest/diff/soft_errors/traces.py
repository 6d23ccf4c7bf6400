"""Stack traces in a text: how many of its lines are frames, and how much of it they are."""

import re
from dataclasses import dataclass

LOOKED_AT = 20_000
"""Characters of a text that are searched: a debug page begins with its trace or with what failed."""

_HINTS = ("#0 ", "at ", ".php", ".py", ".rb", ".java:", ".js:", ".go:", ".cs:")

# One line at a time, anchored and bounded, so that a hostile line costs no more than its length.
_FRAME = re.compile(
    r"""\s{0,40}(?:
      at\s.{1,160}\(.{0,200}\)                                             # Java, Node.js
    | at\s\S{1,200}:\d+:\d+                                                # Node.js
    | at\s.{1,200}\sin\s.{1,160}:line\s\d+                                 # .NET
    | .{1,160}\)\s(?:in\s.{1,160}:\d+|\+\d+)                               # ASP.NET
    | .{0,20}\S{1,160}\sin\s\S{1,80}\sat\sline\s\d+                            # Litestar
    | \#\d+\s.{1,200}                                                      # PHP, gdb
    | File\s"[^"]{1,200}",\sline\s\d+                                      # Python
    | .{0,60}\S{1,160}\.(?:php|phtml|rb|erb|py|pyx|jsx?|mjs|tsx?|go|exs?|p[lm]|vue)["']?
      (?:\s?:\s?\d+|\s?,?\s{0,2}line\s?\d+|\s\(line\s\d+\)|\(\d+\)|.{1,80}\s\(line\s\d+\)).{0,200}
    | [\w$.]{3,160}\.[\w$<>]{1,80}\([\w$ ]{1,80}(?:\.java|\.kt|\.scala|\.groovy)?:?\d{0,6}\)  # Java
    )\s{0,40}$""",
    re.VERBOSE | re.ASCII,
)
_PYTHON = re.compile(r'\s{0,40}File\s"[^"\n]{1,200}",\sline\s\d+', re.ASCII)


@dataclass(frozen=True, slots=True)
class Traces:
    """Frames in a text, and the part of its words, from 0 to 1, that stand in them."""

    frames: int = 0
    share: float = 0.0


def find_traces(text: str) -> Traces:
    """Count the lines that are frames of a stack trace."""
    text = text[:LOOKED_AT]
    if not any(hint in text for hint in _HINTS):
        return Traces()
    frames = words = traced = 0
    shown = 0
    for line in text.splitlines():
        count = len(line.split())
        words += count
        if _FRAME.match(line) or _PYTHON.match(line):
            frames, traced, shown = frames + 1, traced + count, 1
        elif shown and line.startswith("    "):
            # The line of code that Python shows below a frame.
            traced, shown = traced + count, 0
        else:
            shown = 0
    return Traces(frames, traced / words if words else 0.0)
