"""Chunks that say the same: copies, and what the PDF of a manual says that a page says already."""

import re
from collections.abc import Collection, Mapping
from functools import lru_cache

from indexes.ports import GraphReader
from retrieval.graph.expansion import NEAR_DUPLICATE
from retrieval.ranking.score import Scored
from schemas.edges import EdgeKind
from schemas.nodes import Chunk

COPIES_AMONG = 60
"""Best candidates among which copies are looked for."""


def find_copies(graph: GraphReader, ranked: Collection[Scored]) -> Mapping[str, frozenset[str]]:
    """Return for each of the best candidates those that say nearly the same (`similar_to` from .95)."""
    ids = sorted(one.chunk.id for one in tuple(ranked)[:COPIES_AMONG])
    edges = graph.edges_from(ids, kinds={EdgeKind.SIMILAR_TO}) if ids else ()
    copies: dict[str, set[str]] = {}
    for edge in edges:
        if (edge.score or 0.0) >= NEAR_DUPLICATE:
            copies.setdefault(edge.src, set()).add(edge.dst)
            copies.setdefault(edge.dst, set()).add(edge.src)
    return {chunk: frozenset(copies[chunk]) for chunk in sorted(copies)}


def join_copies(*found: Mapping[str, frozenset[str]]) -> Mapping[str, frozenset[str]]:
    """Return for each chunk the copies that any of *found* has of it."""
    chunks = sorted({chunk for one in found for chunk in one})
    return {chunk: frozenset().union(*(one.get(chunk, frozenset()) for one in found)) for chunk in chunks}


AMONG = 60
"""Best candidates that are compared: 1,800 pairs at most."""
RUN = 3
"""Words of a shingle (Broder, On the resemblance and containment of documents, 1997, section 2)."""
CONTAINED = 0.8
"""Share of a passage's shingles that another must have: page headers and line ends of a PDF stand between."""

SHORT = 8
"""Words; what is shorter says the same only under the same heading: `default | 5` stands in many tables."""

_WORD = re.compile(r"\w+")
_LAYOUT = re.compile(
    r"(?:^[ \t]*|(?<=[.;:?!)] ))(?:\(?\d{1,3}[.)]|[a-z]\))[ \t]+"
    r"|\b(?:pages?|section|chapter|appendix)\s+\d[\d.]*\b",
    re.IGNORECASE | re.MULTILINE,
)
"""Numbers of a layout and of no statement: of list items, and of where on paper something stands."""
_HYPHENATED = re.compile(r"(?<=[a-z])[-\u00ad][^\S\n]*+\n\s*(?=[a-z])|\u00ad")
_TURNS = frozenset(
    re.findall(r"\w+", "no not never none without cannot nor true false yes off enabled disabled")
)
_NOTED = re.compile(r"([^\W\d]{4,})\d")
"""A word with the number of its footnote; `int32` and `md5` are words of their own."""

Words = tuple[str, ...]


def find_twins(ranked: Collection[Scored]) -> Mapping[str, frozenset[str]]:
    """Return for each of the best candidates those of another format that say nothing that it does not.

    That is told by words, so that the cut of passages, their headings and line ends do not matter. A passage
    with a number, a negation or a switch that the other lacks says something else, however many words they
    share.
    """
    best = [one.chunk for one in tuple(ranked)[:AMONG]]
    pages, prints = ([one for one in best if (one.page_no is None) is at] for at in (True, False))
    said: dict[str, set[str]] = {}
    for page in pages:
        for printed in prints:
            for one, other in ((page, printed), (printed, page)):
                if _stands_alone(one, other) and says_all_of(one.text, other.text):
                    said.setdefault(one.id, set()).add(other.id)
    return {chunk: frozenset(said[chunk]) for chunk in sorted(said)}


def say_the_same(one: Chunk, other: Chunk) -> bool:
    """Whether either passage says nothing that the other does not."""
    return says_all_of(one.text, other.text) or says_all_of(other.text, one.text)


def _stands_alone(whole: Chunk, part: Chunk) -> bool:
    headings = [_words(one.heading_path[-1]) if one.heading_path else () for one in (whole, part)]
    return len(_words(part.text)) >= SHORT or headings[0] == headings[1]


def says_all_of(text: str, part: str) -> bool:
    """Whether *text* contains all that *part* says: its runs of three words, numbers and negations.

    >>> says_all_of("-t | remove trailing newlines\\n-u fd | read from fd", "-t Remove trailing new-\\nlines")
    True
    >>> says_all_of("Backups are kept for 30 days.", "Backups are kept for 60 days.")
    False
    """
    whole, wanted = _words(text), _words(part)
    if len(wanted) <= RUN or not _tells_no_more(part, text):
        return bool(wanted) and f" {' '.join(wanted)} " in f" {' '.join(whole)} "
    runs = _runs(wanted)
    return len(runs & _runs(whole)) >= CONTAINED * len(runs)


def _tells_no_more(part: str, text: str) -> bool:
    """Whether *text* has the numbers, negations and switches of *part*; the 1 of `message1` is a note."""
    (telling, _), (_, whole) = _telling(part), _telling(text)
    return all((note := _NOTED.fullmatch(word)) is not None and note[1] in whole for word in telling - whole)


@lru_cache(maxsize=1024)
def _telling(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the numbers, negations and switches of a passage, and all of its words."""
    words = frozenset(_words(text))
    return frozenset(one for one in words if one in _TURNS or any(map(str.isdigit, one))), words


@lru_cache(maxsize=1024)
def _words(text: str) -> Words:
    return tuple(_WORD.findall(_LAYOUT.sub(" ", _HYPHENATED.sub("", text)).casefold()))


@lru_cache(maxsize=1024)
def _runs(words: Words) -> frozenset[Words]:
    return frozenset(words[at : at + RUN] for at in range(len(words) - RUN + 1))
