"""The content of a page as parts: read narrowly first, then wider until it contains what was voted for."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from lxml.html import HtmlElement

from ingest.parse.html.blocks import read_blocks
from ingest.parse.html.content import FEW_WORDS, Content, ContentBy, count_words, leading_h1, page_body
from ingest.parse.html.dom import Survey
from ingest.parse.html.family import SHAPES, Family
from ingest.parse.html.inline import split_heading
from ingest.parse.html.left_out import OnLeftOut
from ingest.parse.html.manuals import mark_titles
from ingest.parse.html.purpose import Purpose
from ingest.parse.outline import Block, Heading, Part

COVERAGE = 0.7
"""Least share of the vote that a reading has; below it something that is content was taken for chrome."""

KEPT = 0.5
"""Least share of the vote that is left of a product's page cut down to it: what else stands there is other
products. With less the vote came from elsewhere (JSON, attributes), and nothing is cut."""

VOTED_PAIRS = 0.7
"""Share of a block's word pairs that stand in the vote too, from which on the block was voted for."""

Pairs = Counter[tuple[str, str]]

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class ReadStrategy:
    """One way to read a page: which element, with tables of contents and the like, with what is hidden."""

    root: HtmlElement
    keep_chrome: bool = False
    keep_hidden: bool = False

    def read(self, survey: Survey, family: Family, *, on_left_out: OnLeftOut | None = None) -> list[Part]:
        """Return the parts that a page has when it is read so."""
        return read_blocks(
            self.root,
            survey,
            SHAPES[family],
            keep_chrome=self.keep_chrome,
            keep_hidden=self.keep_hidden,
            on_left_out=on_left_out,
        )


def read_content(survey: Survey, content: Content, family: Family, purpose: Purpose) -> list[Part]:
    """Return the page's parts: the first reading that contains enough of the vote, else the fullest."""
    ballot = ballot_of(content)
    _, parts = choose_reading(survey, content, family, ballot)
    if purpose is Purpose.PRODUCT and ballot:
        parts = voted_parts(parts, ballot)
    return mark_titles(_with_lead(survey, content, family, parts), survey, family)


def choose_reading(
    survey: Survey, content: Content, family: Family, ballot: Pairs
) -> tuple[ReadStrategy, list[Part]]:
    """Return the first reading that contains enough of the vote, else the fullest, and its parts."""
    best, most = (ReadStrategy(content.root), list[Part]()), -1.0
    for reading in _readings(survey, content):
        parts = reading.read(survey, family)
        share = _share_of(ballot, parts)
        if share > most:
            best, most = (reading, parts), share
        if most >= COVERAGE:
            break
    return best


def ballot_of(content: Content) -> Pairs:
    """Return the word pairs that were voted for; none where the vote is too short to count."""
    return _pairs(content.voted) if len(content.voted.split()) >= FEW_WORDS else Counter()


def _readings(survey: Survey, content: Content) -> Iterator[ReadStrategy]:
    body = content.root if content.by is ContentBy.SELECTED else page_body(survey.root)
    yield ReadStrategy(content.root)
    if content.voted or count_words(content.root) > 0:
        yield ReadStrategy(content.root, keep_chrome=True)
    if content.root is not body:
        yield ReadStrategy(body)
    yield ReadStrategy(body, keep_hidden=True)


def _share_of(ballot: Pairs, parts: list[Part]) -> float:
    """How much of the vote the parts contain; where there was none, whether they contain any text."""
    texts = [part.text for part in parts if isinstance(part, Block) and part.text]
    if not ballot:
        return 1.0 if texts else 0.0
    headings = [part.text for part in parts if isinstance(part, Heading)]
    return (ballot & _pairs(" ".join((*texts, *headings)))).total() / ballot.total()


def voted_parts(parts: list[Part], ballot: Pairs) -> list[Part]:
    """The blocks that were voted for and the headings over them; all parts if the vote is of other text."""
    kept: list[Part] = []
    pending: list[Part] = []
    for part in parts:
        if isinstance(part, Heading):
            pending = [above for above in pending if isinstance(above, Heading) and above.level < part.level]
            pending.append(part)
        elif not isinstance(part, Block):
            kept.append(part)
        elif _is_voted(part.text, ballot):
            kept += [*pending, part]
            pending = []
    return kept if _share_of(ballot, kept) >= KEPT else parts


def _is_voted(text: str, ballot: Pairs) -> bool:
    pairs = _pairs(text)
    return sum(pair in ballot for pair in pairs) >= VOTED_PAIRS * len(pairs)


def _pairs(text: str) -> Pairs:
    """Neighbouring words: how lines are broken, and what marks a list, makes no difference."""
    words = _WORD.findall(text.lower())
    return Counter(pairwise(words)) or Counter((word, "") for word in words)


def _with_lead(survey: Survey, content: Content, family: Family, parts: list[Part]) -> list[Part]:
    lead = leading_h1(survey, content)
    text, number = ("", None) if lead is None else split_heading(lead, numbered=SHAPES[family].numbered)
    return [Heading(text=text, level=1, number=number), *parts] if text else parts
