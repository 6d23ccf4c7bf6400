"""The text of a page as a browser searches it: blocks in order, and the words of all of them."""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

from lxml import etree
from lxml.html import HtmlElement

from ingest.parse.html.opened import BUTTON_TEXT, STRIKE
from ingest.parse.html.visibility import UNSEEN_TAGS
from ingest.parse.html.words import BREAK_TAGS, word_set

_NO_TEXT = UNSEEN_TAGS | word_set(f"{BUTTON_TEXT} {STRIKE} img input math meter progress rt rp sub sup")
"""Nothing in them is found, or it is laid out otherwise than it is written."""

_RUN = 4
_LONG = 100_000
"""Code points of a page from which on it is read through once for what repeats."""

_CODE = frozenset({"pre", "listing", "xmp"})
_WORD = re.compile(r"\w+")
_NO_WORD = re.compile(r"[^\x00-\x7f\w]")
_SPACED = bytes(
    32 if code < 128 and not chr(code).isalnum() and chr(code) not in "_\n" else code for code in range(256)
)
"""Bytes of UTF-8 with a space for each ASCII sign that is in no word; line breaks stay."""
_UNLIKE = re.compile("[\u00ad\u200b-\u200f\u2060\ufeff]")
_UNLIKE_IN_CODE = re.compile(f"{_UNLIKE.pattern}|[\n\t]|  +")
"""Signs without width, and in code what is more than one space: browsers do not search them alike."""


@dataclass(frozen=True)
class ShownText:
    """Blocks without white space at their edges and never two spaces, and all words in order.

    `joined` has the words in lower case between single spaces, with one at each end. Places are offsets of
    words in it; `starts` are those of the blocks' first words. `content` is where the element begins that was
    read. Before the blocks in `apart` stands something that is no text, as a picture.
    """

    blocks: tuple[str, ...]
    starts: tuple[int, ...]
    joined: str
    content: int = 0
    apart: frozenset[int] = frozenset()

    def find(self, phrase: str, start: int = 0) -> int | None:
        """Return the first place of these words, single spaces between them, at or after *start*."""
        found = self.joined.find(f" {phrase} ", max(0, start - 1))
        return None if found < 0 else found + 1

    def is_unique(self, phrase: str, place: int) -> bool:
        """Whether these words stand at *place* and nowhere else."""
        if self._repeated is not None:
            first = tuple(phrase.split(" ", _RUN)[:_RUN])
            if len(first) == _RUN and first not in self._repeated:
                return True
        return self.find(phrase) == place and self.find(phrase, place + 1) is None

    @cached_property
    def _repeated(self) -> frozenset[tuple[str, ...]] | None:
        """Runs of words that stand more than once; None where a search for each phrase costs less."""
        if len(self.joined) < _LONG:
            return None
        words = self.joined.split()
        runs = Counter(zip(words, words[1:], words[2:], words[3:], strict=False))
        return frozenset(run for run, times in runs.items() if times > 1)

    def block_at(self, place: int) -> int:
        """Return the number of the block that a word stands in."""
        return bisect_right(self.starts, place) - 1

    def words_of(self, block: int, upto: int) -> tuple[tuple[int, int, int], ...] | None:
        """Return place, start and end in the block of its first *upto* words; None if that cannot be told."""
        place, found = self.starts[block], []
        for word in islice(_WORD.finditer(self.blocks[block]), upto):
            start, end = word.span()
            length = len(word[0].lower())
            found.append((place, start, end))
            place += length + 1
        # A letter may be several in lower case, which are no word together.
        return tuple(found) if self.joined[place - 1 : place] == " " else None


def folded_words(text: str) -> str:
    """Return the words of a text as they are compared, in lower case and with single spaces between them."""
    return " ".join(_spaced(text).split())


def _spaced(text: str) -> str:
    """Return a text in lower case with a space for each sign that is in no word, but for line breaks."""
    low = text.lower()
    if not low.isascii():
        low = _NO_WORD.sub(" ", low)
    return low.encode("utf-8", "surrogatepass").translate(_SPACED).decode("utf-8", "surrogatepass")


def shown_text(body: HtmlElement, content: HtmlElement, hidden: Collection[HtmlElement]) -> ShownText:
    """Return the text of a page's *body* but for what is *hidden*; *content* is the element that was read."""
    reader = _Reader()
    pieces = reader.pieces
    walk = etree.iterwalk(body, events=("start", "end"))
    skipped: HtmlElement | None = None
    first: int | None = None
    for event, element in walk:
        tag = element.tag
        if event == "start":
            if tag in _NO_TEXT or (hidden and element in hidden):
                walk.skip_subtree()
                skipped = element
                reader.end(apart=tag in _NO_TEXT)
                continue
            if tag in BREAK_TAGS:
                if pieces:
                    reader.end()
                if tag in _CODE:
                    reader.codes += 1
            if element is content:
                reader.end()
                first = len(reader.blocks)
            found = element.text
        else:
            if tag in BREAK_TAGS and element is not skipped:
                if pieces:
                    reader.end()
                if tag in _CODE:
                    reader.codes -= 1
            found = None if element is body else element.tail
        if found:
            pieces.append(found)
    reader.end()
    blocks = tuple(reader.blocks)
    joined, starts = _joined(blocks)
    content_at = 0 if first is None else starts[first]
    return ShownText(blocks, starts[:-1], joined, content_at, frozenset(reader.apart))


def _joined(blocks: tuple[str, ...]) -> tuple[str, tuple[int, ...]]:
    """Return the words of blocks as they are compared, where those of each block begin, and the end."""
    starts, length = [], 1
    # All at once, since blocks have no line breaks, and most are a few words.
    folded = [" ".join(line.split()) for line in _spaced("\n".join(blocks)).split("\n")]
    for words in folded:
        starts.append(length)
        length += len(words) + 1 if words else 0
    return f" {' '.join(filter(None, folded))} ", (*(starts if blocks else ()), length)


class _Reader:
    def __init__(self) -> None:
        self.blocks: list[str] = []
        self.apart: set[int] = set()
        self.codes = 0
        self.pieces: list[str] = []

    def end(self, *, apart: bool = False) -> None:
        if self.pieces:
            written = "".join(self.pieces)
            self.pieces.clear()
            if self.codes or not written.isascii():
                stretches = (_UNLIKE_IN_CODE if self.codes else _UNLIKE).split(written)
                self.blocks.extend(filter(None, (" ".join(stretch.split()) for stretch in stretches)))
            elif block := " ".join(written.split()):
                self.blocks.append(block)
        if apart:
            self.apart.add(len(self.blocks))
