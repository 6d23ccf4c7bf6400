"""Whether a document names `access` where documents say of themselves what they are: then it is closed.

Only the front matter of Markdown states groups (`markdown/front_matter.py`). Whatever else looks like it has
been meant as well, in any form that people write, and is not left open.
"""

import html
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from unicodedata import normalize

from schemas.access import EVERYTHING

CLOSED = (EVERYTHING,)
UNREAD = (
    "access is named where it cannot be read; nobody sees it but in the whole index. Write it as YAML "
    "between --- and ---, from the first line of a Markdown file on: access: [group]"
)

_FEW_WORDS = 8
"""Of a line of prose there are more; a line of metadata without a colon has no more."""

_ONE_ROW = 3
"""Lines of a table that has one row below its head and the line under that."""

_LINES = 500
"""How far the forms of metadata are told apart; what goes on behind that has all its keys looked at."""

_LOOK_ALIKE = str.maketrans("асеѕ", "aces")
"""Cyrillic letters."""

_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|x([0-9a-fA-F]{2}))")
_UNSEEN = re.compile("[\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]")
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
_URL = re.compile(
    r"^\s*\[[^]]{1,200}\]:\s+(?:\w{1,20}://\S*|[^\s:=]*[/.#]\w[^\s:=]*(?=\s|$))"
    r"|^\s*\.\.\s\|[^|]{1,200}\|\s\w+::|\w{1,20}://\S*|\]\([^)\s]{0,2000}\)"
)
"""What leads elsewhere, with the words that it is called by."""

_ACCESS = (
    r"access(?![a-z]|[-_.](?:token|key|secret|log|control[-_](?:allow|expose|max|request))s?(?![a-z])"
    r"|\ (?:token|key|secret|log)s?\W{0,3}[:=])"
)
"""The word, in no name of something else: of a credential, a file, a header of HTTP."""

_WORD = re.compile(rf"(?<![a-z]){_ACCESS}")
_KEY = re.compile(rf"(?<![a-z?&/]){_ACCESS}[-\w.]{{0,60}}[\"'`*)\]}}>]*\s*[:=|]|<access[\s/>]")
_LIST = re.compile(r"\W*access\W{0,3}\s?[:=]\s?\[")
_FIRST = re.compile(
    rf"\W*(?=[\w$.@-]{{0,60}}(?<![a-z]){_ACCESS})\w[\w$.@-]{{0,60}}(?:[ \t]+[\w$.@-]{{1,60}}){{0,2}}"
    r"[\"'`*)\]}>]*\s*[:=]"
)
"""The key of a line, of three words at most; `access` is in the first."""

_META = re.compile(
    r"<(?:meta|opf:meta|property)\b[^>]{0,500}?\b(?:name|property|itemprop|key)\s*=\s*[\"']?\s*(?:[\w.:-]{0,60}[.:_-])?"
    r"access[\"'\s/>]"
)
_FENCE = re.compile(r"\s*(?:([-+;~`])\1\1+(?:[\s\w{].*)?|([^\w\s]|_)(?:\s*\2)*)\s*", re.IGNORECASE)
_RULED = re.compile(r"\s*([^\w\s])\1+\s*")
_HEADING = re.compile(r"\s{0,3}#{1,6}\s|=+\s+\w")
_COMMENTS = (("<!--", "-->"), ("{/*", "*/}"), ("/*", "*/"), ("{#", "#}"), ("{%", "%}"), ("<?", "?>"))
_FIELD = re.compile(r"\s*(?::[^:`\n]{1,60}:(?:\s|$)|\.\.\s(?!_)|export\b|import\b|//|%|#[+:]|\[[^]]*\]:)")
_TARGET = re.compile(r"\s*\.\.\s_")
_LOOSE = re.compile(r"\s+\S|[-*+>]\s|[\"'\[\](){}<!@?&|;\\]|[*_]{0,3}[\w$][\w$.@ -]{0,60}[\"'`*_]*\s*[:=]")


def names_access_at_top(text: str) -> bool:
    """Whether a text names `access` before its first heading, or in a block of metadata right behind that.

    Metadata are blocks between lines of signs (`---`, `+++`, `;;;`), whether they end or not; lines with a
    key; objects of JSON or a script; comments; fields. The first line of prose ends the search.
    """
    if "access" not in _plain(text):
        return False
    every = _UNSEEN.sub("", text).splitlines()
    lines = every[:_LINES]
    place: _Place | None = _Place(0, is_headed=False)
    while place is not None and not place.is_named and place.at < len(lines):
        place = _read_on(lines, place)
    return place is not None and (place.is_named or any(map(_states_key, every[_LINES:])))


@dataclass(frozen=True, slots=True)
class _Place:
    """The next line to read, and whether a heading or a key `access` has come before it."""

    at: int
    is_headed: bool
    is_named: bool = False


def _read_on(lines: Sequence[str], place: _Place) -> _Place | None:
    """Read one piece of metadata, or a heading; None: here begins the text."""
    at, is_headed = place.at, place.is_headed
    line = lines[at]
    if not line.strip() or _TARGET.match(line):
        return _Place(at + 1, is_headed)
    if end := _end_of_comment(lines, at):
        return _Place(end, is_headed, any(map(_has_key, lines[at:end])))
    if _FENCE.fullmatch(line):
        return _read_block(lines, at, is_headed)
    if _is_underlined(lines, at):
        is_set = _is_set_as_title(lines, at)
        return _Place(at + 1 + is_set, is_headed=True, is_named=not is_set and _states_key(line))
    if _HEADING.match(line):
        return _Place(at + 1, is_headed=True)
    if _FIELD.match(line):
        return _Place(at + 1, is_headed, _has_key(line))
    if line.startswith("|") and not is_headed:
        return _read_table(lines, at)
    if (_LOOSE.match(line) and not is_headed) or _runs_into_fence(lines, at):
        return _Place(at + 1, is_headed, _states_key(line))
    if _LIST.match(_plain(line)):
        return _Place(at + 1, is_headed, is_named=True)
    is_title = not is_headed and not _is_prose(line) and len(list(_paragraph(lines, at))) == 1
    return _Place(at + 1, is_headed=True) if is_title else None


def _read_table(lines: Sequence[str], at: int) -> _Place:
    """Read a table: metadata are a key in each row, or a single row below keys."""
    rows = list(takewhile(lambda line: line.startswith("|"), lines[at:]))
    keys = rows if len(rows) <= _ONE_ROW else [f"{row[1:].partition('|')[0]}|" for row in rows]
    return _Place(at + len(rows), is_headed=False, is_named=any(map(_has_key, keys)))


def _read_block(lines: Sequence[str], at: int, is_headed: bool) -> _Place | None:
    if is_headed and lines[at].strip()[0] in "`~":
        return None  # an example
    end = _end_of_block(lines, at)
    if end is not None and _is_title(lines, at, end):
        is_named = "=" not in lines[at] and _states_key(lines[at + 1])
        return _Place(end + 1, is_headed=True, is_named=is_named)
    block = lines[at + 1 : end] if end is not None else list(_paragraph(lines, at + 1))
    loosely = end is not None and not is_headed
    is_named = _has_key(lines[at]) or names_access_in_block(block, loosely=loosely)
    return _Place(at + 1 if end is None else end + 1, is_headed, is_named)


def names_access_in_block(lines: Sequence[str], *, loosely: bool = True) -> bool:
    """Whether a block names `access`: as a key; *loosely*: as a word, too, in what is no prose."""
    if any(map(_states_key, lines)):
        return True
    if any(_is_prose(line) for line in lines):
        return False
    return any(map(_has_key, lines)) or (loosely and any(_WORD.search(_plain(line)) for line in lines))


def is_access_key(key: object) -> bool:
    """Whether a key has the word `access` in it, however it is written."""
    return _WORD.search(_plain(str(key))) is not None


def keys_name_access(value: object) -> bool:
    """Whether a key of a value, or of what is in it, has the word."""
    if isinstance(value, Mapping):
        return any(is_access_key(key) or keys_name_access(one) for key, one in value.items())
    return isinstance(value, list | tuple) and any(map(keys_name_access, value))


def names_access_in_markup(markup: str) -> bool:
    """Whether an element of metadata names `access`, or what stands before the first element does."""
    head = re.split(r"<body\b", markup, maxsplit=1, flags=re.IGNORECASE)[0]
    start = re.sub(r"<!--|-->", " ", head).partition("<")[0]
    return _META.search(_spelled(head).lower()) is not None or names_access_at_top(start)


def _plain(text: str) -> str:
    """A text as people read it: escapes undone, in small letters, words of a hump apart."""
    return _HUMP.sub("_", _spelled(text)).lower().translate(_LOOK_ALIKE)


def _spelled(text: str) -> str:
    if text.isascii() and "\\" not in text and "&" not in text:
        return text
    return normalize("NFKC", _UNSEEN.sub("", _ESCAPE.sub(_escaped, html.unescape(text))))


def _escaped(escape: re.Match[str]) -> str:
    number = int(next(filter(None, escape.groups())), 16)
    return chr(number) if number < 0x110000 else escape[0]


def _states_key(line: str) -> bool:
    """Whether the first key of a line is `access`, or one of an object in it."""
    is_first = _FIRST.match(_plain(line)) is not None
    return is_first or ((re.match(r"\s*\w", line) is None or "{" in line) and _has_key(line))


def _has_key(line: str) -> bool:
    return _KEY.search(_URL.sub("", _plain(line))) is not None or _META.search(_plain(line)) is not None


def _is_prose(line: str) -> bool:
    return len(line.split()) > _FEW_WORDS and not _LOOSE.match(line)


def _end_of_comment(lines: Sequence[str], at: int) -> int | None:
    """The line behind a comment that begins here; of one that never ends, there is no such line."""
    opening = next((pair for pair in _COMMENTS if lines[at].lstrip().startswith(pair[0])), None)
    if opening is None:
        return None
    ends = (number for number in range(at, len(lines)) if opening[1] in lines[number])
    return next((number + 1 for number in ends), None)


def _end_of_block(lines: Sequence[str], at: int) -> int | None:
    """The line that ends a block; a heading behind an empty line is none of metadata."""
    sign = lines[at].strip()[0]
    closing = {"{": "}", "[": "]", "(": ")", "<": ">"}.get(sign, sign)
    for number in range(at + 1, len(lines)):
        if _closes(lines[number], closing):
            return number
        if _HEADING.match(lines[number]) and not lines[number - 1].strip():
            return None
    return None


def _closes(line: str, sign: str) -> bool:
    found = line.strip()
    return (found[:1] == sign and _FENCE.fullmatch(line) is not None) or found == "..."


def _is_title(lines: Sequence[str], start: int, end: int) -> bool:
    """Whether lines of signs stand above and below a title, as in reStructuredText: as long as it is."""
    return end == start + 2 and len(lines[start].strip()) >= len(lines[start + 1].strip())


def _is_underlined(lines: Sequence[str], at: int) -> bool:
    return at + 1 < len(lines) and _RULED.fullmatch(lines[at + 1]) is not None


def _is_set_as_title(lines: Sequence[str], at: int) -> bool:
    """Whether signs under a lone line are as many as its own; others, and three, may end metadata."""
    is_lone = not at or not lines[at - 1].strip()
    return is_lone and len("---") < len(lines[at].strip()) == len(lines[at + 1].strip())


def _runs_into_fence(lines: Sequence[str], at: int) -> bool:
    """Whether a line with a key stands in a paragraph that ends in a line of signs."""
    return _LOOSE.match(lines[at]) is not None and any(map(_RULED.fullmatch, _paragraph(lines, at)))


def _paragraph(lines: Sequence[str], at: int) -> Iterator[str]:
    for number in range(at, len(lines)):
        if not lines[number].strip():
            return
        yield lines[number]
