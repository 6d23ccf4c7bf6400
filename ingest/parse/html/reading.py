"""The content of a page as parts: read narrowly first, then wider until it holds what was voted for."""

import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from lxml.html import HtmlElement

from ingest.parse.html.blocks import read_blocks
from ingest.parse.html.content import FEW_WORDS, Content, count_words, leading_h1, page_body
from ingest.parse.html.dom import Survey
from ingest.parse.html.family import SHAPES, Family
from ingest.parse.html.inline import heading_text
from ingest.parse.html.purpose import Purpose
from ingest.parse.outline import Block, Heading, Part

COVERAGE = 0.7
"""Least share of the vote that a reading holds; below it something that is content was taken for chrome."""

KEPT = 0.5
"""Least share of the vote that is left of a product's page cut down to it: what else stands there is other
products. With less the vote came from elsewhere (JSON, attributes), and nothing is cut."""

VOTED_PAIRS = 0.7
"""Share of a block's word pairs that stand in the vote too, from which on the block was voted for."""

Pairs = Counter[tuple[str, str]]

_WORD = re.compile(r"\w+")


def read_content(survey: Survey, content: Content, family: Family, purpose: Purpose) -> list[Part]:
    """Give the page's parts: the first reading that holds enough of the vote, else the fullest."""
    ballot = _pairs(content.voted) if len(content.voted.split()) >= FEW_WORDS else Counter()
    best, most = [], -1.0
    for parts in _readings(survey, content, family):
        share = _share_of(ballot, parts)
        if share > most:
            best, most = parts, share
        if most >= COVERAGE:
            break
    if purpose is Purpose.PRODUCT and ballot:
        best = _voted_parts(best, ballot)
    return _with_lead(survey, content.root, family, best)


def _readings(survey: Survey, content: Content, family: Family) -> Iterator[list[Part]]:
    shape, body = SHAPES[family], page_body(survey.root)
    yield read_blocks(content.root, survey, shape)
    if content.voted or count_words(content.root) > 0:
        yield read_blocks(content.root, survey, shape, keep_chrome=True)
    if content.root is not body:
        yield read_blocks(body, survey, shape)
    yield read_blocks(body, survey, shape, keep_hidden=True)


def _share_of(ballot: Pairs, parts: list[Part]) -> float:
    """How much of the vote the parts hold; where there was none, whether they hold any text."""
    texts = [part.text for part in parts if isinstance(part, Block) and part.text]
    if not ballot:
        return 1.0 if texts else 0.0
    headings = [part.text for part in parts if isinstance(part, Heading)]
    return (ballot & _pairs(" ".join((*texts, *headings)))).total() / ballot.total()


def _voted_parts(parts: list[Part], ballot: Pairs) -> list[Part]:
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


def _with_lead(survey: Survey, root: HtmlElement, family: Family, parts: list[Part]) -> list[Part]:
    lead = leading_h1(survey, root)
    text = "" if lead is None else heading_text(lead, numbered=SHAPES[family].numbered)
    return [Heading(text=text, level=1), *parts] if text else parts
