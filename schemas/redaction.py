"""Text as it may be shown: without secrets, harmless to a terminal, in whatever encoding."""

import codecs
import json
import re
from bisect import bisect_right
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from io import TextIOWrapper
from typing import Any, TextIO

from schemas.secrets import Secret, find_secrets

REDACTED = "[redacted]"
"""What stands in place of a secret."""

_SPACES = re.compile(r"\s+")
_BREAK = re.compile(r"[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_USER = re.compile(r"(?<=://)[^/?#@\s]+@")
_SECRET = re.compile(
    r"([?&;][^?=&;#\s]*(?:token|key|password|passwd|pwd|secret|sig|signature|credential|auth|jwt)=)[^&;#\s]*",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Hidden:
    """A text whose secrets have gone; `cuts` are (start, end) of what went, in the text as it was."""

    text: str
    cuts: tuple[tuple[int, int], ...]

    def at(self, offset: int) -> int:
        """Where a place of the text as it was is now; one inside of a secret is where its mark begins."""
        before = bisect_right(self.cuts, offset, key=lambda cut: cut[1])
        gone = sum(end - start for start, end in self.cuts[:before])
        inside = before < len(self.cuts) and self.cuts[before][0] < offset
        return (self.cuts[before][0] if inside else offset) - gone + before * len(REDACTED)


def hide_values(text: str, values: Collection[str]) -> Hidden:
    """Put a mark in place of every stretch of *text* that any of *values* covers."""
    cuts: list[tuple[int, int]] = []
    spans = (found.span() for value in values for found in re.finditer(re.escape(value), text))
    for start, end in sorted(spans):
        if cuts and start < cuts[-1][1]:
            cuts[-1] = cuts[-1][0], max(end, cuts[-1][1])
        else:
            cuts.append((start, end))
    starts = [0, *(end for _, end in cuts)]
    ends = [*(start for start, _ in cuts), len(text)]
    kept = (text[start:end] for start, end in zip(starts, ends, strict=True))
    return Hidden(REDACTED.join(kept), tuple(cuts))


def secrets_of(text: str) -> tuple[Secret, ...]:
    """Return the secrets of *text*, those included that show once others are hidden."""
    found: list[Secret] = []
    while more := find_secrets(text):
        found.extend(more)
        text = hide_values(text, pieces_of(more)).text
    return tuple(found)


def pieces_of(secrets: Iterable[Secret]) -> frozenset[str]:
    """Return all that must be hidden of *secrets*."""
    return frozenset().union(*(secret.pieces for secret in secrets))


def redact(text: str) -> str:
    """Return *text* without its secrets, nor those that show only once these are hidden where they stood."""
    while (hidden := hide_values(text, pieces_of(secrets_of(text))).text) != text:
        text = hidden
    return text


def one_line(text: str) -> str:
    """Return *text* on one line, control and bidi characters escaped, secrets as `[redacted]`, in URLs `***`.

    A secret of a URL is user name and password before the host, and the value of a query key that ends in
    token, key, password, sig, signature and the like.
    """
    joined = _SPACES.sub(lambda spaces: " " if _BREAK.search(spaces[0]) else spaces[0], text)
    text = _SECRET.sub(r"\1***", _USER.sub("***@", joined))
    return redact(_CONTROL.sub(lambda char: f"\\x{ord(char[0]):02x}", text))


_UNSEEN = re.compile("[\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""Characters that JSON leaves as they are: C1 controls, line separators, marks that turn the direction."""


def to_json(value: Any, *, indent: int | None = None, sort_keys: bool = False) -> str:
    """Return *value* as JSON; characters stand for themselves, but for those that nobody sees."""
    text = json.dumps(value, ensure_ascii=False, indent=indent, sort_keys=sort_keys)
    return _UNSEEN.sub(lambda char: f"\\u{ord(char[0]):04x}", text)


_ESCAPED = "sitegraph.escaped"
_FAILING = ("strict", "surrogateescape")
"""What Python sets by itself; whoever asked for another way (`PYTHONIOENCODING=ascii:replace`) keeps it."""


def escape_unwritable(*streams: TextIO) -> None:
    r"""Write what the encoding of a stream lacks as JSON escapes it (`\u00bb`), in place of failing.

    Python's own `backslashreplace` writes `\xbb`, which is no JSON.
    """
    codecs.register_error(_ESCAPED, _escape)
    for stream in streams:
        if isinstance(stream, TextIOWrapper) and stream.errors in _FAILING:
            stream.reconfigure(errors=_ESCAPED)


def _escape(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return json.dumps(error.object[error.start : error.end])[1:-1], error.end
