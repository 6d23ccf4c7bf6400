"""Addresses that open a page at the words of a chunk, where no id stands at its beginning.

Source: URL Fragment Text Directives (WICG, Scroll to Text Fragment), 2.1 and 3.4. A browser that is given
`#id:~:text=prefix-,start,-suffix` finds the first place where *start* stands in one block as whole words, right
behind *prefix* and right before *suffix*; case does not count. One that knows none goes to the id.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from urllib.parse import quote

from lxml.html import HtmlElement

from ingest.parse.html.shown_text import ShownText, shown_text, words_in
from schemas.nodes import Chunk

DELIMITER = ":~:text="

FEWEST, MOST = 4, 12
"""Words of a passage that name it: four are seldom elsewhere, and twelve fit into an address."""

_AROUND = 6
"""Words before or after it that tell it from equal ones."""

_PROBES = (8, 5, 3)
_SKIPPED = 8
"""Words of a chunk that are looked for, and how many at its beginning may be none of the page, as a label."""

_INSIDE_WORDS = frozenset(".,:;'\u2019\u00b7_")

_LONGEST = 200
"""Code points; where words are not parted by spaces, one may be a whole paragraph."""


def with_text_fragments(
    chunks: Sequence[Chunk], *, body: HtmlElement, content: HtmlElement
) -> tuple[Chunk, ...]:
    """Give a text fragment to each chunk that no id of its own opens, if its words are found on the page.

    Args: body: all that a browser shows; content: the element that the chunks were read from.
    """
    lacking = {chunk.id for chunk in lacking_ids(chunks)}
    if not lacking:
        return tuple(chunks)
    shown = shown_text(body, content)
    starts = _starts(chunks, shown)
    return tuple(
        replace(chunk, text_fragment=_fragment_at(start, shown))
        if chunk.id in lacking and start is not None
        else chunk
        for chunk, start in zip(chunks, starts, strict=True)
    )


def lacking_ids(chunks: Sequence[Chunk]) -> Iterator[Chunk]:
    """Yield chunks without a fragment, and those whose fragment stands before an earlier one."""
    seen: set[str] = set()
    for chunk in chunks:
        if chunk.fragment is None or chunk.fragment in seen:
            yield chunk
        seen.update((chunk.fragment or "", *chunk.fragments))


def _starts(chunks: Sequence[Chunk], shown: ShownText) -> Iterator[int | None]:
    """Say of each chunk, in order, with which word of the page it begins."""
    at = shown.content
    for chunk in chunks:
        words = words_in(chunk.text[-(chunk.offsets[1] - chunk.offsets[0]) :])
        found = _place(words, shown, at)
        if found is None and at == shown.content:
            found = _place(words, shown, 0)
        if found is not None:
            # Half of them only: formulas have more words in their source than on the page.
            at = min(found + max(1, len(words) // 2), len(shown.words))
        yield found


def _place(words: Sequence[str], shown: ShownText, at: int) -> int | None:
    for probe in _PROBES:
        for skipped in range(min(_SKIPPED, len(words)) if len(words) > probe else 1):
            own = words[skipped : skipped + probe]
            if len(own) == min(probe, len(words)) and own and (found := shown.find(own, at)) is not None:
                return found
    return None


def _fragment_at(first: int, shown: ShownText) -> str | None:
    """Return the directive for the words at *first*: as few as are nowhere else, else with what is around them.

    Where that is the same elsewhere, too, the first of equals can be named, since a browser goes there.
    """
    last = _last_of_block(first, shown)
    phrase = ""
    ends = [
        after
        for after in range(min(first + FEWEST, last), min(first + MOST, last) + 1)
        if not _is_amid_word(after - 1, shown)
    ]
    if not ends or (first and _is_amid_word(first - 1, shown)):
        return None
    for after in ends:
        phrase = _written(first, after, shown)
        if _is_unique(first, after, shown):
            return _directive(phrase)
    after = ends[-1]
    for count in range(1, _AROUND + 1):
        before = _before(first, count, shown)
        if before is not None and _is_unique(first - count, after, shown):
            return _directive(phrase, prefix=before)
        behind = _behind(last, count, shown) if after == last else None
        if behind is not None and _is_unique(first, last + count, shown):
            whole = shown.blocks[shown.words[first].block][shown.words[first].start :]
            return _directive(whole, suffix=behind)
    return _directive(phrase) if shown.find(shown.phrase(first, after)) == first else None


def _last_of_block(first: int, shown: ShownText) -> int:
    block, after = shown.words[first].block, first
    while after < len(shown.words) and shown.words[after].block == block:
        after += 1
    return after


def _is_amid_word(index: int, shown: ShownText) -> bool:
    """Whether a word goes on behind a sign, for browsers: `1.0`, `os.path`, `don't` are one (UAX 29, 4.1)."""
    word = shown.words[index]
    behind = shown.blocks[word.block][word.end : word.end + 2]
    return len(behind) == 2 and behind[0] in _INSIDE_WORDS and behind[1].isalnum()


def _is_unique(first: int, after: int, shown: ShownText) -> bool:
    words = shown.phrase(first, after)
    found = shown.find(words)
    return found == first and shown.find(words, first + 1) is None


def _written(first: int, after: int, shown: ShownText) -> str:
    start, end = shown.words[first], shown.words[after - 1]
    return shown.blocks[start.block][start.start : end.end]


def _before(first: int, count: int, shown: ShownText) -> str | None:
    """The last *count* words before a place with all signs up to it, if they are of one block next to it."""
    if first < count:
        return None
    start, own = shown.words[first - count], shown.words[first]
    if shown.words[first - 1].block != start.block or not _follows(start.block, own.block, shown):
        return None
    end = own.start if own.block == start.block else None
    if end is None and own.start:
        return None  # signs before the first word of its block
    return shown.blocks[start.block][start.start : end].strip()


def _behind(after: int, count: int, shown: ShownText) -> str | None:
    """The first *count* words of the next block."""
    if after + count > len(shown.words):
        return None
    own, end = shown.words[after - 1], shown.words[after + count - 1]
    if shown.words[after].block != end.block or not _follows(own.block, end.block, shown):
        return None
    return shown.blocks[end.block][: end.end]


def _follows(block: int, other: int, shown: ShownText) -> bool:
    return block == other or (other == block + 1 and other not in shown.apart)


def _directive(start: str, *, prefix: str = "", suffix: str = "") -> str | None:
    if len(prefix) + len(start) + len(suffix) > _LONGEST:
        return None
    before = f"{_quoted(prefix)}-," if prefix else ""
    behind = f",-{_quoted(suffix)}" if suffix else ""
    return f"{DELIMITER}{before}{_quoted(start)}{behind}"


def _quoted(text: str) -> str:
    """Percent-encode all but letters, digits and `._~`; hyphen, comma and ampersand are syntax."""
    return quote(text, safe="").replace("-", "%2D")
