"""Addresses that open a page at the words of a chunk, where no id stands at its beginning.

Source: URL Fragment Text Directives (WICG, Scroll to Text Fragment), 2.1 and 3.4. A browser that is given
`#id:~:text=prefix-,start,-suffix` finds the first place where *start* stands in one block as whole words,
right behind *prefix* and right before *suffix*; case does not count. One that knows none goes to the id.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from lxml.html import HtmlElement

from ingest.parse.html.shown_text import ShownText, folded_words, shown_text
from ingest.parse.round_trip import parent_texts
from schemas.fragment import GraphFragment
from schemas.nodes import Chunk

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
        words = folded_words(_AS_READ.sub(" ", text))
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
