"""Cut text into chunks that fit the encoder, and find the codes in them that must match exactly. Pure."""

import re
import zlib
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from schemas.text import encoded_headings, find_formulas

CountTokens = Callable[[str], int]
Span = tuple[int, int]

MAX_TOKENS = 250
"""Word pieces of heading_path + text: the encoder's window of 256 less its two special ones and a reserve."""

_TARGET_LOW = 120 / 250
_TARGET_HIGH = 220 / 250
TINY = 40 / 250
"""Shares of the limit: of 250 tokens, aim at 120 to 220 and merge siblings under 40 (docs/chunks.md)."""

SHORT = 20
"""Letters; what has fewer says nothing by itself and belongs to a neighbour (docs/chunks.md)."""

_SIGNS = "\u2e80"
"""From here on, a sign of Chinese, Japanese or Korean says what takes about three letters elsewhere."""

_SIGNS_PER_TOKEN = 16
"""A word-piece tokenizer counts a 100,000-letter word as one unknown piece; its length must count too."""

_SURELY_LONG = 8
"""Signs per token above which a text is cut without counting it whole first; prose has 4 to 5."""

_UNIT, _EDGE, _BLOCK, _LINE, _SENTENCE, _WORD, _SIGN = 6, 5, 4, 3, 2, 1, 0
_BREAKS = {
    _BLOCK: re.compile(r"\n[ \t]*\n\s*"),
    _LINE: re.compile(r"\n\s*"),
    _SENTENCE: re.compile(r"(?<=[.!?;:])\s+|(?<=[。！？；])"),
}
_WORDS = re.compile(r"\S+(?:\s+\S+){0,7}")


@dataclass(frozen=True, slots=True)
class _Piece:
    """A stretch that is never cut; `level` is the strength of the break behind it."""

    start: int
    end: int
    tokens: int
    level: int


def says_little(text: str) -> bool:
    """Whether a text is too short to be a chunk of its own."""
    if len(text) >= SHORT or text.isascii():
        return len(text) < SHORT
    return len(text) + 2 * sum(sign >= _SIGNS for sign in text) < SHORT


def text_budget(heading_path: tuple[str, ...], count_tokens: CountTokens) -> int:
    """Return how many tokens the text of a chunk under *heading_path* may have."""
    headings = encoded_headings(heading_path)
    return max(MAX_TOKENS // 3, MAX_TOKENS - count_tokens(headings)) if headings else MAX_TOKENS


def split_spans(
    text: str, *, max_tokens: int, count_tokens: CountTokens, solid: tuple[Span, ...] = ()
) -> tuple[Span, ...]:
    """Cut *text* into spans [start, end) of code points, in order, none empty, edges without white space.

    Text within *max_tokens* is one span. Longer text is cut where a block ends, else a line, a sentence,
    a word, and inside a word only when one word is too long. Among equally good places the content itself
    decides, not the distance from the start, so that after an insertion the cuts fall into step again.
    Each stretch is counted about once per level, so time is linear in the text.

    Args: solid: spans of *text* in order, as code, that are not cut while they fit.
    """
    span = _trimmed(text, 0, len(text))
    if span is None:
        return ()
    cost = _cost_of(text, max_tokens, count_tokens)
    if span[1] - span[0] <= max_tokens * _SURELY_LONG and cost(*span) <= max_tokens:
        return (span,)
    solid = tuple(stretch for stretch in solid if "\n" in text[slice(*stretch)])
    cutter = _Cutter(text, max_tokens, cost, solid)
    pieces = list(cutter.pieces(span, _UNIT if solid else _BLOCK))
    spans = [(group[0].start, group[-1].end) for group in _groups(text, pieces, max_tokens)]
    return tuple(part for found in spans for part in _within(text, found, max_tokens, cost))


def _cost_of(text: str, limit: int, count_tokens: CountTokens) -> Callable[[int, int], int]:
    def cost(start: int, end: int) -> int:
        least = (end - start) // _SIGNS_PER_TOKEN
        # A tokenizer takes seconds for a word of a megabyte, and its length alone says that it is too long.
        return least if least > limit else max(count_tokens(text[start:end]), least)

    return cost


def _trimmed(text: str, start: int, end: int) -> Span | None:
    body = text[start:end]
    inner = body.strip()
    if not inner:
        return None
    start += len(body) - len(body.lstrip())
    return start, start + len(inner)


@dataclass(frozen=True, slots=True)
class _Cutter:
    text: str
    limit: int
    cost: Callable[[int, int], int]
    solid: tuple[Span, ...]

    def pieces(self, span: Span, level: int) -> Iterator[_Piece]:
        parts = list(self._parts(span, level))
        for index, (start, end) in enumerate(parts):
            behind = level if index + 1 < len(parts) else min(level + 1, _UNIT if self.solid else _BLOCK)
            tokens = self.cost(start, end)
            if tokens <= self.limit or end - start == 1:
                yield _Piece(start, end, tokens, behind)
                continue
            inner = list(self.pieces((start, end), max(level - 1, _SIGN)))
            yield from inner[:-1]
            last = inner[-1]
            yield _Piece(last.start, last.end, last.tokens, behind)

    def _parts(self, span: Span, level: int) -> Iterator[Span]:
        start, end = span
        if level == _SIGN:
            middle = (start + end) // 2
            yield from ((start, middle), (middle, end))
        elif level == _EDGE:
            yield from self._around_solid(start, end)
        elif level == _WORD:
            yield from (match.span() for match in _WORDS.finditer(self.text, start, end))
        else:
            for match in _BREAKS[min(level, _BLOCK)].finditer(self.text, start, end):
                if level == _UNIT and self._is_inside_solid(match.start()):
                    continue
                if match.start() > start:
                    yield start, match.start()
                start = match.end()
            if start < end:
                yield start, end

    def _around_solid(self, start: int, end: int) -> Iterator[Span]:
        """Part a stretch where solid text begins and ends."""
        at = start
        for first, last in self.solid:
            if first < start or last > end:
                continue
            yield from filter(None, (_trimmed(self.text, at, first), (first, last)))
            at = last
        yield from filter(None, (_trimmed(self.text, at, end),))

    def _is_inside_solid(self, offset: int) -> bool:
        before = bisect_right(self.solid, (offset, 0)) - 1
        return before >= 0 and self.solid[before][0] <= offset < self.solid[before][1]


def _groups(text: str, pieces: list[_Piece], limit: int) -> Iterator[list[_Piece]]:
    left = sum(piece.tokens for piece in pieces)
    first = 0
    while first < len(pieces):
        after = len(pieces) if left <= limit else _best_cut(text, pieces, first, left, limit)
        group = pieces[first:after]
        yield group
        left -= sum(piece.tokens for piece in group)
        first = after


def _best_cut(text: str, pieces: list[_Piece], first: int, left: int, limit: int) -> int:
    low, tiny = int(limit * _TARGET_LOW), int(limit * TINY)
    # A cut that leaves a tiny rest is worse than a shorter chunk.
    high = max(low, min(int(limit * _TARGET_HIGH), left - tiny))
    best: tuple[tuple[bool, int, int, int], int] | None = None
    total = 0
    for index in range(first, len(pieces)):
        total += pieces[index].tokens
        if index > first and total > limit:
            break
        zone = 0 if low <= total <= high else 1 if total > high else 2
        key = (total < tiny, -pieces[index].level, zone, _signature(text, pieces, index + 1))
        if best is None or key <= best[0]:
            best = (key, index + 1)
    assert best is not None
    return best[1]


def _signature(text: str, pieces: list[_Piece], index: int) -> int:
    if index == len(pieces):
        return 0
    return zlib.crc32(text[pieces[index].start : pieces[index].end].encode("utf-8", "surrogatepass"))


def _within(text: str, span: Span, limit: int, cost: Callable[[int, int], int]) -> Iterator[Span]:
    """Halve what turned out too long, for tokenizers that count a whole as more than its parts."""
    trimmed = _trimmed(text, *span)
    if trimmed is None:
        return
    start, end = trimmed
    if end - start == 1 or cost(start, end) <= limit:
        yield trimmed
        return
    middle = _middle(text, start, end)
    yield from _within(text, (start, middle), limit, cost)
    yield from _within(text, (middle, end), limit, cost)


def _middle(text: str, start: int, end: int) -> int:
    middle = (start + end) // 2
    space = text.rfind(" ", start + 1, middle)
    return space if space > (start + middle) // 2 else middle


_ID_PREFIX = re.compile(r"[A-Z][A-Z0-9]{1,9}-\d{1,6}(?![A-Za-z0-9])")

MAX_CODES = 200
"""Codes kept of one text; a table of constants needs no more to be found."""

_MARKED = re.compile(r"[_./\\0-9-]")
_BREAK = re.compile(r"""[\s,;()\[\]{}<>|"'`“”‘’«»=]+""")
_SPACED = str.maketrans(dict.fromkeys(",;()[]{}<>|\"'`=", " "))
_PATTERNS = tuple(
    re.compile(pattern)
    for pattern in (
        r"(?<![\w-])[A-Z][A-Z0-9]*(?:-[A-Z0-9]+)*-\d+(?![\w-])",  # ids: GOV-0017, CVE-2024-3094
        r"(?<![\w-])[A-Z]+\d+[A-Z0-9]*(?![\w-])",  # error and algorithm names: E501, SHA256
        r"(?<![\w-])--[A-Za-z][\w-]*\w|(?<![\w-])-[A-Za-z](?![\w-])",  # flags: --no-owner, -x
        r"(?<![\w.])[A-Za-z_]\w*(?:(?:\.|::)[A-Za-z_]\w*)+(?![\w])",  # os.path.join, std::move
        r"(?<!\w)(?=\w*[A-Za-z0-9])\w+_\w*(?!\w)|(?<!\w)_\w*[A-Za-z0-9]\w*(?!\w)",  # max_wal_size, __init__
        r"(?<![\w./:~-])(?:~|\.{1,2})?(?:/[\w.+@%~-]*[\w+~-])+/?",  # /etc/passwd, ~/.ssh
        r"(?<![\w./:~-])[\w.-]+(?:/[\w.-]+)+\.\w+",  # docs/rules/ids.md
        r"(?<!\w)[A-Za-z]:\\[\w.\\-]*\w",  # C:\Users\x
        r"(?<![\w.])v?\d+(?:\.\d+)+(?:[-~+.]?(?:rc|alpha|beta|dev|post|a|b)\.?\d*)?(?![\w])",  # 15.20, 2.0rc1
    )
)


def extract_codes(text: str) -> tuple[str, ...]:
    """Return the distinct codes of *text*, sorted by code point, at most MAX_CODES.

    A code inside a longer one counts too: `/etc/pg_hba.conf` also gives `pg_hba.conf` and `pg_hba`.
    """
    parts = text.translate(_SPACED).split() if text.isascii() else _BREAK.split(text)
    words = {one for one in {*parts} if len(one) > 1 and not one.isalpha() and _MARKED.search(one)}
    codes = {code for word in words for code in _codes_in(word.rstrip(".:!?"))} | {*find_formulas(text)}
    return tuple(sorted(codes)[:MAX_CODES])


def document_codes(doc_id: str | None) -> tuple[str, ...]:
    """Codes that every chunk of a document answers to: its id, and the code a longer id begins with."""
    if doc_id is None or _BREAK.search(doc_id):
        return ()
    prefix = _ID_PREFIX.match(doc_id)
    return tuple(sorted({doc_id, prefix.group()} if prefix else {doc_id}))


@lru_cache(maxsize=8192)
def _codes_in(word: str) -> tuple[str, ...]:
    """Codes of one word; a manual names the same ones on every page."""
    found = (match.group() for pattern in _PATTERNS for match in pattern.finditer(word))
    return tuple(code for code in dict.fromkeys(found) if _tells_something(code))


def _tells_something(code: str) -> bool:
    """Leave out what only looks like a code: `e.g`, `i.e`, a lone slash or dot."""
    return any(len(part) > 1 for part in re.split(r"[./\\]", code)) or any(char.isdigit() for char in code)
