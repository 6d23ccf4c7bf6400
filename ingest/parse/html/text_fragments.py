"""Addresses that open a page at the words of a chunk, found in its text as a browser searches it.

Source: URL Fragment Text Directives (WICG, Scroll to Text Fragment), 2.1 and 3.4. A browser that is given
`#id:~:text=prefix-,start,-suffix` finds the first place where *start* stands in one block as whole words,
right behind *prefix* and right before *suffix*; case does not count. One that knows none goes to the id.
"""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from urllib.parse import quote

from lxml import etree
from lxml.html import HtmlElement

from ingest.parse.html.visibility import BREAK_TAGS, BUTTON_TEXT, STRIKE, UNSEEN_TAGS, word_set
from ingest.parse.round_trip import parent_texts
from ingest.parse.wording import without_figures
from schemas.fragment import GraphFragment
from schemas.nodes import Chunk

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


DELIMITER = ":~:text="

FEWEST, MOST = 4, 12
"""Words of a passage that name it: four are seldom elsewhere, and twelve fit into an address."""

_AROUND = 6
"""Words before or after it that tell it from equal ones."""

_PROBES = ((8, 8), (5, 4))
_WANTED = 16
"""Words of a chunk that are looked for, and how many at its beginning may be none of the page, as a label."""

_INSIDE_WORDS = frozenset(".,:;'\u2019\u00b7_")

_AS_READ = re.compile(r"(?m)^\s*\w{1,4}\. (?=\S)|\[[\w*]{1,4}\]|[\u2070-\u209c\u00b2\u00b3\u00b9]+")
"""Numbers of items, marks and raised signs: no browser finds them as they are read."""

_LONGEST = 200
"""Code points; where words are not parted by spaces, one may be a whole paragraph."""


def text_fragments(
    fragment: GraphFragment, *, body: HtmlElement, content: HtmlElement, hidden: Collection[HtmlElement]
) -> dict[str, str]:
    """Return by id of a chunk, that no id of its own opens, the words by which it is found on the page.

    Args: body: all that a browser shows; content: the element that the chunks were read from;
    hidden: elements that it does not show.
    """
    lacking = {chunk.id for chunk in lacking_ids(fragment.chunks)}
    if not lacking:
        return {}
    shown, texts = shown_text(body, content, hidden), parent_texts(fragment)
    own = (texts[chunk.section_id or ""][slice(*chunk.offsets)] for chunk in fragment.chunks)
    starts = zip(fragment.chunks, _starts(own, shown), strict=True)
    places = {chunk.id: start for chunk, start in starts if chunk.id in lacking and start is not None}
    found = {chunk: _fragment_at(start, shown) for chunk, start in places.items()}
    return {chunk: words for chunk, words in found.items() if words is not None}


def lacking_ids(chunks: Sequence[Chunk]) -> Iterator[Chunk]:
    """Yield chunks without a fragment, and those whose fragment stands before an earlier one."""
    seen: set[str] = set()
    for chunk in chunks:
        if chunk.fragment is None or chunk.fragment in seen:
            yield chunk
        seen.update((chunk.fragment or "", *chunk.fragments))


def _starts(texts: Iterable[str], shown: ShownText) -> Iterator[int | None]:
    """Say of each text, in order, at which place of the page it begins."""
    at = shown.content
    for text in texts:
        words = folded_words(_AS_READ.sub(" ", without_figures(text)))
        found = _place(words, shown, at)
        if found is None and at == shown.content:
            found = _place(words, shown, 0)
        if found is not None:
            # Half of it only: formulas have more words in their source than on the page.
            at = min(found + max(1, len(words) // 2), len(shown.joined))
        yield found


def _place(words: str, shown: ShownText, at: int) -> int | None:
    first = words.split(" ", _WANTED)[:_WANTED]
    for probe, most in _PROBES:
        for skipped in range(max(1, min(most, len(first) - probe + 1))):
            phrase = " ".join(first[skipped : skipped + probe])
            if phrase and (found := shown.find(phrase, at)) is not None:
                return found
    return None


@dataclass(frozen=True, slots=True)
class _Passage:
    """The first words of a passage in its block, and those before: place, start, end in the block of each."""

    shown: ShownText
    block: int
    before: tuple[tuple[int, int, int], ...]
    words: tuple[tuple[int, int, int], ...]

    @property
    def text(self) -> str:
        return self.shown.blocks[self.block]

    def ends(self) -> Iterator[int]:
        """Yield numbers of words after which a directive may end, fewest first."""
        for count in range(min(FEWEST, len(self.words)), min(MOST, len(self.words)) + 1):
            if not _goes_on(self.text, self.words[count - 1][2]):
                yield count

    def phrase(self, count: int) -> str:
        """The first words as they are compared."""
        end = self.words[count][0] - 1 if count < len(self.words) else self._end
        return self.shown.joined[self.words[0][0] : end]

    @property
    def _end(self) -> int:
        place, start, end = self.words[-1]
        return place + len(self.text[start:end].lower())


def _fragment_at(place: int, shown: ShownText) -> str | None:
    """Return the directive for the words at *place*: as few as are nowhere else, else with some around them.

    Where these are elsewhere, too, the first of equals can be named, since a browser goes there.
    """
    passage = _passage_at(place, shown)
    if passage is None:
        return None
    start, ends = passage.words[0][1], list[int]()
    for count in passage.ends():
        if shown.is_unique(passage.phrase(count), place):
            return _directive(passage.text[start : passage.words[count - 1][2]])
        ends.append(count)
    if not ends:
        return None
    phrase, shortest = passage.phrase(ends[-1]), passage.text[start : passage.words[ends[-1] - 1][2]]
    for at, before in _befores(passage):
        if shown.is_unique(f"{shown.joined[at:place]}{phrase}", at):
            return _directive(shortest, prefix=before)
    if ends[-1] == len(passage.words):
        for end, behind in _behinds(passage):
            if shown.is_unique(shown.joined[place:end], place):
                return _directive(passage.text[start:], suffix=behind)
    return _directive(shortest) if shown.find(phrase) == place else None


def _passage_at(place: int, shown: ShownText) -> _Passage | None:
    block = shown.block_at(place)
    index = shown.joined.count(" ", shown.starts[block], place)
    words = shown.words_of(block, index + MOST + 1)
    if (
        words is None
        or words[index][0] != place
        or (index and _goes_on(shown.blocks[block], words[index - 1][2]))
    ):
        return None
    return _Passage(shown, block, words[:index], words[index:])


def _goes_on(text: str, end: int) -> bool:
    """Whether a word goes on behind a sign, for browsers: `1.0`, `os.path`, `don't` are one (UAX 29, 4.1)."""
    behind = text[end : end + 2]
    return len(behind) == 2 and behind[0] in _INSIDE_WORDS and behind[1].isalnum()


def _befores(passage: _Passage) -> Iterator[tuple[int, str]]:
    """Yield place and text of ever more words up to the passage, with all signs between."""
    shown, block, end = passage.shown, passage.block, passage.words[0][1]
    words: Sequence[tuple[int, int, int]] = passage.before
    if not words:
        if end or not block or block in shown.apart:  # signs, or a picture, stand between
            return
        block, end = block - 1, len(shown.blocks[block - 1])
        words = shown.words_of(block, len(shown.blocks[block])) or ()
    for number in range(len(words) - 1, max(-1, len(words) - 1 - _AROUND), -1):
        if not (number and _goes_on(shown.blocks[block], words[number - 1][2])):
            yield words[number][0], shown.blocks[block][words[number][1] : end].strip()


def _behinds(passage: _Passage) -> Iterator[tuple[int, str]]:
    """Yield end and text of ever more words of the block behind that of the passage."""
    shown, block = passage.shown, passage.block + 1
    if block >= len(shown.blocks) or block in shown.apart:
        return
    text = shown.blocks[block]
    for place, start, end in shown.words_of(block, _AROUND) or ():
        if not _goes_on(text, end):
            yield place + len(text[start:end].lower()), text[:end]


def _directive(start: str, *, prefix: str = "", suffix: str = "") -> str | None:
    if len(prefix) + len(start) + len(suffix) > _LONGEST:
        return None
    before = f"{_quoted(prefix)}-," if prefix else ""
    behind = f",-{_quoted(suffix)}" if suffix else ""
    return f"{DELIMITER}{before}{_quoted(start)}{behind}"


def _quoted(text: str) -> str:
    """Percent-encode all but letters, digits and `._~`; hyphen, comma and ampersand are syntax."""
    return quote(text, safe="").replace("-", "%2D")
