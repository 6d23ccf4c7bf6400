"""The text of a page as a browser searches it: blocks in order, and where each word stands."""

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from lxml import etree
from lxml.html import HtmlElement

from ingest.parse.html.visibility import UNSEEN_TAGS, is_hidden
from ingest.parse.html.words import word_set

_INLINE = word_set(
    "a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd label mark nobr q s samp small "
    "span strike strong sub sup time tt u var wbr"
)
"""Elements that text runs through; any other ends a block, as a directive may not reach beyond one."""

_NO_TEXT = UNSEEN_TAGS | word_set("img math meter progress rt rp")
"""Nothing in them is found, or it is laid out otherwise than it is written."""

_CODE = frozenset({"pre", "listing", "xmp"})
_WORD = re.compile(r"\w+")
_UNLIKE = re.compile("[\u00ad\u200b-\u200f\u2060\ufeff]")
_UNLIKE_IN_CODE = re.compile(f"{_UNLIKE.pattern}|[\n\t]|  +")
"""Signs without width, and in code what is more than one space: browsers do not search them alike."""


@dataclass(frozen=True, slots=True)
class PlacedWord:
    """A word, folded for comparison, from `start` to `end` of a block."""

    text: str
    block: int
    start: int
    end: int


@dataclass(frozen=True)
class ShownText:
    """Blocks without white space at their edges and never two spaces, and all words of them in order.

    `content` is the first word of the element that was read. `apart` are blocks before which something
    stands that is no text, as a picture: nothing is said to follow what is before it.
    """

    blocks: tuple[str, ...]
    words: tuple[PlacedWord, ...]
    content: int = 0
    apart: frozenset[int] = frozenset()

    @cached_property
    def joined(self) -> str:
        """All words between single spaces, one at each end."""
        return f" {' '.join(word.text for word in self.words)} "

    @cached_property
    def _offsets(self) -> tuple[int, ...]:
        offsets, at = [], 1
        for word in self.words:
            offsets.append(at)
            at += len(word.text) + 1
        return tuple(offsets)

    def find(self, words: Iterable[str], start: int = 0) -> int | None:
        """Return the index of the first of these words where they follow one another, at or after *start*."""
        before = self._offsets[start] - 1 if start < len(self.words) else len(self.joined)
        found = self.joined.find(f" {' '.join(words)} ", before)
        return None if found < 0 else bisect_left(self._offsets, found + 1)

    def phrase(self, first: int, after: int) -> tuple[str, ...]:
        """Return the words from *first* to before *after*."""
        return tuple(word.text for word in self.words[first:after])


def words_in(text: str) -> list[str]:
    """Return the words of a text as they are compared: without case and accents."""
    return [_folded(word) for word in _WORD.findall(text)]


def _folded(word: str) -> str:
    if word.isascii():
        return word.lower()
    plain = unicodedata.normalize("NFKD", word.casefold())
    return "".join(sign for sign in plain if not unicodedata.combining(sign))


def shown_text(body: HtmlElement, content: HtmlElement) -> ShownText:
    """Return the text of a page's *body*; *content* is the element that was read."""
    reader = _Reader()
    walk = etree.iterwalk(body, events=("start", "end"))
    skipped: HtmlElement | None = None
    for event, element in walk:
        inline = element.tag in _INLINE
        if element.tag in _CODE:
            reader.end()
            reader.codes += 1 if event == "start" else -1
        if event == "start":
            if element.tag in _NO_TEXT or is_hidden(element):
                walk.skip_subtree()
                skipped = element
                reader.end(apart=element.tag in _NO_TEXT)
                continue
            if not inline:
                reader.end()
            if element is content:
                reader.content = len(reader.words)
            reader.add(element.text)
            continue
        if not inline and element is not skipped:
            reader.end()
        if element is not body:
            reader.add(element.tail)
    reader.end()
    return ShownText(tuple(reader.blocks), tuple(reader.words), reader.content, frozenset(reader.apart))


class _Reader:
    def __init__(self) -> None:
        self.blocks: list[str] = []
        self.words: list[PlacedWord] = []
        self.apart: set[int] = set()
        self.content = 0
        self.codes = 0
        self._pieces: list[str] = []

    def add(self, text: str | None) -> None:
        if text:
            self._pieces.append(text)

    def end(self, *, apart: bool = False) -> None:
        written = "".join(self._pieces)
        self._pieces.clear()
        if written:
            for stretch in (_UNLIKE_IN_CODE if self.codes else _UNLIKE).split(written):
                self._block(" ".join(stretch.split()))
        if apart:
            self.apart.add(len(self.blocks))

    def _block(self, text: str) -> None:
        if not text:
            return
        number = len(self.blocks)
        self.blocks.append(text)
        self.words.extend(
            PlacedWord(_folded(found[0]), number, *found.span()) for found in _WORD.finditer(text)
        )
