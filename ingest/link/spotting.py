"""Where a text names things: those of the catalogue, and names and ids that nobody has listed."""

import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from itertools import zip_longest

from ahocorasick_rs import AhoCorasick

from ingest.link.catalogue import Catalogue
from ingest.link.naming import is_code_name, is_id
from schemas.names import WORD

MAX_IDS = 200

_JOINING = frozenset(re.findall(r"\w+", "of the de del della di da von van der den la le al bin"))
_LEADING = frozenset(
    re.findall(
        r"\w+",
        """a after all also although an and another any are as at because before both but by can during
        each either even every few first for from had has have he her here his how however i if in into
        is it its last later like many may more most much my near neither no nor not now of on one only
        or other our over she since so some such than that the their them then there these they this
        those though through thus to two under unlike until up upon was we were what when where whether
        which while who whose why with within without you your""",
    )
)
"""Words that begin a sentence with a capital and no name with it."""

_ID = re.compile(r"[A-Z][A-Z0-9]{1,9}-\d+")


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """Half-open offsets into a text; `text` is what stands there."""

    start: int
    end: int
    text: str


def find_catalogued(text: str, catalogue: Catalogue, taken: Collection[Span] = ()) -> tuple[Span, ...]:
    """Return where the names of the catalogue stand, as written and not inside a word, outside *taken*.

    Of names that overlap it is the first, and of those that begin together the longest. In reading order.
    """
    spans = _catalogued(text, catalogue) if catalogue.meanings else ()
    return tuple(span for span in spans if not any(_overlap(span, other) for other in taken))


def _catalogued(text: str, catalogue: Catalogue) -> Iterator[Span]:
    index, end = catalogue.by_beginning, 0
    words = [*WORD.finditer(text)]
    for word, following in zip_longest(words, words[1:]):
        if word.start() < end or word[0] not in index:
            continue
        two = text[word.start() : following.end()] if following else ""
        for length, offset in index.get(two, index[word[0]]):
            start = word.start() - offset
            name = text[max(start, 0) : max(start, 0) + length]
            if start >= end and name in catalogue.meanings and _stands_alone(text, start, name):
                end = start + len(name)
                yield Span(start, end, name)
                break


def find_capitalised(text: str, taken: Collection[Span] = ()) -> tuple[Span, ...]:
    """Return runs of at least two capitalised words, with the small words that join them, outside *taken*."""
    return tuple(span for span in _capitalised(text) if not any(_overlap(span, other) for other in taken))


def find_ids(text: str, codes: Collection[str], taken: Collection[Span] = ()) -> tuple[Span, ...]:
    """Return the first place of each of *codes* that is an id, outside *taken*."""
    return find_phrases(text, sorted(code for code in codes if is_id(code))[:MAX_IDS], taken)


def find_phrases(text: str, phrases: Collection[str], taken: Collection[Span] = ()) -> tuple[Span, ...]:
    """Return the first place of each phrase where it stands alone, outside *taken*; in reading order.

    Of phrases that overlap the first stays, and of those that begin together the longest.
    """
    places = (span for phrase in phrases if phrase and (span := _first(text, phrase)))
    kept: list[Span] = []
    for span in sorted(places, key=lambda span: (span.start, -span.end)):
        if not any(_overlap(span, other) for other in (*taken, *kept)):
            kept.append(span)
    return tuple(kept)


def _first(text: str, code: str) -> Span | None:
    start = text.find(code)
    while start >= 0:
        if _stands_alone(text, start, code):
            return Span(start, start + len(code), code)
        start = text.find(code, start + 1)
    return None


def _stands_alone(text: str, start: int, name: str) -> bool:
    """Whether no word goes on before or behind; ids and symbols must not go on with a dash or dot either."""
    end = start + len(name)
    before, behind = text[max(0, start - 2) : start], text[end : end + 2]
    if (_is_word(before[-1:]) and _is_word(name[0])) or (_is_word(behind[:1]) and _is_word(name[-1])):
        return False
    if not (_ID.match(name) or is_code_name(name)):
        return True
    return not (before[-1:] in {"-", ".", "/"} and _is_word(before[:1])) and not (
        behind[:1] in {"-", ".", "/"} and _is_word(behind[1:])
    )


def _capitalised(text: str) -> Iterator[Span]:
    run: list[re.Match[str]] = []
    for word in WORD.finditer(text):
        if run and not _goes_on(run[-1][0], text[run[-1].end() : word.start()]):
            yield from _span(text, run)
            run = []
        if _is_capitalised(word[0]) or (run and _joins(run[-1][0], word[0])):
            run.append(word)
        else:
            yield from _span(text, run)
            run = []
    yield from _span(text, run)


def _span(text: str, run: list[re.Match[str]]) -> Iterator[Span]:
    words = list(run)
    while words and words[-1][0] in _JOINING:
        words.pop()
    while words and (words[0][0].casefold() in _LEADING or words[0][0] in _JOINING):
        words.pop(0)
    if sum(_is_capitalised(word[0]) for word in words) > 1 and any(len(word[0]) > 2 for word in words):
        start, end = words[0].start(), words[-1].end()
        yield Span(start, end, text[start:end])


def _joins(before: str, word: str) -> bool:
    """Whether a small word goes on with a name: "of" does, and "the" only behind another such word."""
    return word in _JOINING and (word != "the" or before in _JOINING)


def _goes_on(word: str, characters: str) -> bool:
    """Whether a name may go on after a word and the characters behind it; a dot ends all but an initial."""
    return characters in {" ", "-", "'", "’"} or (characters in {". ", "."} and len(word) == 1)


def _is_capitalised(word: str) -> bool:
    return word[0].isupper()


def _is_word(char: str) -> bool:
    return char.isalnum() or char == "_"


def _overlap(one: Span, other: Span) -> bool:
    return one.start < other.end and other.start < one.end


def sieve_of(names: Collection[str]) -> Callable[[str], bool]:
    """Return what says whether a text has one of the names in it, inside a word too.

    Its time follows the text and not the number of names (Aho and Corasick, 1975).
    """
    automaton = AhoCorasick(sorted(names))
    return lambda text: bool(automaton.find_matches_as_indexes(text))
