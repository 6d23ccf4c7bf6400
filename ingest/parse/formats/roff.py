"""Roff as manual pages need it: escapes, strings, conditions and macros that a page defines itself.

Source: groff(7), the manual of GNU troff; what only changes how a page looks is passed over.
"""

import re
import unicodedata
from collections import deque
from collections.abc import Iterator, Sequence

MAX_EXPANDED = 200_000
"""Lines that macros and conditions of a page put back; a macro may call itself."""

MAX_STRING, MAX_FILLED = 2_000, 1_000_000
"""Characters of one string, and of all that the strings of a page stand for."""

_MAX_DEPTH = 5

_SIGNS = {
    sign[:2]: sign[2:]
    for signs in (
        "bu• em— en– hy- lq“ rq” oq‘ cq’ aq' ga` ti~ ha^ rs\\ co© rg® tm™ de° mu× di÷ +-± <=≤ >=≥ !=≠ ==≡",
        "->→ <-← <>↔ mi− pl+ lB[ rB] lC{ rC} la⟨ ra⟩ ba| br│ or| bv| sl/ ul_ at@ sh# Do$ Po£ Eu€ Ye¥ ct¢ sc§",
        "ps¶ fm′ sd″ 12½ 14¼ 34¾ if∞ Fo« Fc» fo‹ fc› sq□ ci○ ru_ dd‡ dg† mo∈ no¬ ssß aeæ AEÆ o/ø /oø /OØ oeœ",
        "OEŒ oaå oAÅ *aα *bβ *mμ *pπ aa´ -DÐ Sdð TPÞ Tpþ",
    )
    for sign in signs.split()
} | {"eq": "=", "dq": '"', "Tm": "™", "R": "®", "lq": "“", "rq": "”", "q": '"'}
_ACCENTS = dict(zip("'`^:~,", "\u0301\u0300\u0302\u0308\u0303\u0327", strict=True))
JOIN = "\x06"
"""Stands where two words, or the words of two lines, are one."""

_ONE = {"c": JOIN, "e": "\\", "E": "\\", "\\": "\\", "t": "\t", "0": " ", "~": " ", "'": "'", "`": "`"}
_NOTHING = frozenset("&|^%:/,dupr{}!)azk")
_ESCAPE = re.compile(
    r"\\(?:[fmMFgVYkn][-+]?(?:\[[^\]]*\]|\(..|.)|s(?:[-+]?\[[^\]]*\]|[-+]?\(..|[-+]?'[^']*'|[-+]?[1-3]\d|[-+]?\d)"
    r"|N'(?P<code>\d{1,7})'|[oZ](?P<e>[^\w\s])(?P<over>.*?)(?P=e)|[ABbDHhLlRSvwXx](?P<d>[^\w\s]).*?(?P=d)"
    r"|\*(?:\[(?P<s1>[^\]]*)\]|\((?P<s2>..)|(?P<s3>.))|\((?P<c1>..)|\[(?P<c2>[^\]]*)\]|(?P<one>.)|$)"
)
_SPACED_JOIN = re.compile(r"(?:(?<=[ \t])|(?<=\\[~0 ]))\\c$", re.MULTILINE)
"""Where what comes next goes on in the line, behind a space: as lines do without it."""

_COMMENT = re.compile(r"(?<!\\)((?:\\\\)*)\\[\"#].*")
_ARGUMENT = re.compile(r'"((?:[^"]|"")*)"?|((?:\\.|\S)+)')
_REQUEST = re.compile(r"[.'][ \t]*(\S+)[ \t]*(.*)$")
_CONDITION = re.compile(
    r"(!?)(?:([ntoevd]|[cdmrFS] \S+)(?=[\s\\.'])|(\\?'|\")(.*?)\3(.*?)\3|(\S+))[ \t]*(.*)$"
)


def macro_names(text: str) -> frozenset[str]:
    """Return the words of a text, each of which is the name of a macro."""
    return frozenset(text.split())


_KNOWN = macro_names(
    "TH SH SS PP P LP TP TQ IP HP RS RE B I R SM SB BR BI IB IR RB RI nf fi EX EE br sp UR UE MT ME SY YS OP "
    "TS TE Sp Vb Ve IX URL"
)
"""Macros that pages define anew for how they look, and that are read by what they mean."""


def split_arguments(text: str) -> list[str]:
    """Return the arguments of a request; one in quotes may hold spaces."""
    return [
        found[1].replace('""', '"') if found[1] is not None else found[2]
        for found in _ARGUMENT.finditer(text)
    ]


class Roff:
    """Reads the lines of one page: gives requests that it does not know itself, and lines of text.

    `left_out` are the lines under conditions that do not hold.
    """

    def __init__(self, text: str) -> None:
        joined = _SPACED_JOIN.sub("", re.sub(r"(?<!\\)((?:\\\\)*)\\\n", r"\1", text))
        self._lines = deque(
            _COMMENT.sub(r"\1", line) if "\\" in line else line for line in joined.splitlines()
        )
        self._strings: dict[str, str] = {}
        self._macros: dict[str, list[str]] = {}
        self._left, self._room = MAX_EXPANDED, MAX_FILLED
        self._otherwise: list[bool] = []
        self.left_out: list[str] = []

    def events(self) -> Iterator[tuple[str, str]]:
        """Yield each request with its arguments, and ("", text) for a line of text; both as written."""
        while self._lines:
            line = self._lines.popleft()
            found = _REQUEST.match(line)
            if found is None:
                if line[:1] not in (".", "'"):
                    yield "", line
                continue
            name, rest = found[1].removesuffix("\\}"), found[2]
            if name in ("if", "ie", "el"):
                self._branch(name, rest)
            elif name in ("de", "de1", "am", "ig"):
                self._define(name, rest)
            elif name in ("ds", "ds1", "as"):
                self._set(name, rest)
            elif name in self._macros and self._left > 0:
                self._call(name, split_arguments(rest))
            elif name != "\\}":
                yield name, rest

    @property
    def is_cut(self) -> bool:
        """Whether macros or strings stood for more than they may."""
        return self._left <= 0 or self._room < 0

    def take_until(self, end: str) -> Iterator[str]:
        """Yield the raw lines up to the request *end*."""
        while self._lines and (line := self._lines.popleft()).strip() != end:
            yield line

    def plain(self, text: str, depth: int = 0) -> str:
        """Return a text without escapes."""
        if "\\" not in text:
            return text

        def said(found: re.Match[str]) -> str:
            if found["code"]:
                return chr(min(int(found["code"]), 0xFFFF))
            if found["over"] is not None:
                return self.plain(found["over"], depth + 1) if depth < _MAX_DEPTH else ""
            name = found["s1"] or found["s2"] or found["s3"]
            if name is not None:
                value = self._strings.get(name, _SIGNS.get(name, ""))
                self._room -= len(value) + 1
                if self._room < 0:
                    return ""
                return self.plain(value, depth + 1) if depth < _MAX_DEPTH else ""
            if found["one"] is not None:
                one = found["one"]
                return "" if one in _NOTHING else _ONE.get(one, one)
            return sign_of(found["c1"] or found["c2"] or "")

        return _ESCAPE.sub(said, text)

    def _branch(self, name: str, rest: str) -> None:
        """Put back what a condition lets through; the block of one that does not hold is dropped."""
        if name == "el":
            holds = self._otherwise.pop() if self._otherwise else False
        else:
            found = _CONDITION.match(rest)
            holds, rest = _holds(found), found[7] if found else ""
            if name == "ie":
                self._otherwise.append(not holds)
        if not rest.startswith("\\{"):
            if holds and rest:
                self._lines.appendleft(rest)
            else:
                self.left_out.append(rest)
            return
        depth, kept, line = 1, [], rest[2:]
        while True:
            depth += line.count("\\{") - line.count("\\}")
            kept.append(line)
            if depth <= 0 or not self._lines:
                break
            line = self._lines.popleft()
        self._left -= len(kept) + len(rest) // 100
        kept[-1] = kept[-1].rpartition("\\}")[0] if depth <= 0 else kept[-1]
        if holds and self._left > 0:
            self._lines.extendleft(line.lstrip() for line in reversed(kept) if line.strip())
        else:
            self.left_out += kept

    def _define(self, name: str, rest: str) -> None:
        names = rest.split()
        end = f".{next(iter(names[name != 'ig' :]), '.')}"
        body = []
        while self._lines and self._lines[0].strip().replace("'", ".", 1) != end:
            body.append(self._lines.popleft().replace("\\\\", "\\"))
        if self._lines:
            self._lines.popleft()
        if names and name != "ig" and names[0] not in _KNOWN:
            self._macros[names[0]] = [*(self._macros.get(names[0], []) if name == "am" else []), *body]

    def _set(self, name: str, rest: str) -> None:
        key, _, value = rest.partition(" ")
        value = value.lstrip().removeprefix('"')
        self._strings[key] = ((self._strings.get(key, "") if name == "as" else "") + value)[:MAX_STRING]

    def _call(self, name: str, arguments: Sequence[str]) -> None:
        def argument(found: re.Match[str]) -> str:
            if found[1] in "*@":
                return " ".join(arguments)
            number = int(found[1])
            return arguments[number - 1] if 0 < number <= len(arguments) else ""

        body = [re.sub(r"\\\$([*@\d])", argument, line) for line in self._macros[name]]
        self._left -= len(body) + 1
        self._lines.extendleft(reversed(body))


def _holds(found: re.Match[str] | None) -> bool:
    """Whether a condition holds for text on a screen; what compares numbers does not."""
    if found is None:
        return False
    holds = found[2] == "n" or (found[3] is not None and found[4] == found[5])
    return holds != bool(found[1]) if found[6] is None else False


def sign_of(name: str) -> str:
    r"""Return what an escape in the form `\[name]` stands for; "" where that is no text."""
    if name in _SIGNS:
        return _SIGNS[name]
    if found := re.match(r"u([0-9A-F]{4,5})|char(\d{1,3})$", name):
        return chr(int(found[1], 16) if found[1] else int(found[2]))
    if len(name) == 2 and name[0] in _ACCENTS:
        return unicodedata.normalize("NFC", name[1] + _ACCENTS[name[0]])
    return ""
