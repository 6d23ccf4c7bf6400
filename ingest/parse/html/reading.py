"""The content of a page as parts: read narrowly first, then wider until it contains what was voted for, then
without what the vote passed over, if the vote is to be believed.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice

from lxml.html import HtmlElement

from ingest.parse.html.apart import count_words as all_words
from ingest.parse.html.apart import holds_passage
from ingest.parse.html.blocks import read_blocks
from ingest.parse.html.content import Content, ContentBy, around_title, count_words, leading_h1, page_body
from ingest.parse.html.dom import Survey, stated_title
from ingest.parse.html.family import SHAPES, Family
from ingest.parse.html.inline import split_heading
from ingest.parse.html.left_out import OnLeftOut, SkipReason
from ingest.parse.html.manuals import mark_titles
from ingest.parse.html.purpose import Purpose
from ingest.parse.html.site_title import without_site_title
from ingest.parse.html.unvoted import is_cut_down, is_frame, unvoted_elements
from ingest.parse.html.vote import FEW_WORDS, Pairs, Vote, pairs_of
from ingest.parse.outline import Block, Heading, Part

COVERAGE = 0.7
"""Least share of the vote that a reading has; below it something that is content was taken for chrome."""


@dataclass(frozen=True, slots=True)
class ReadStrategy:
    """One way to read a page: which element, with tables of contents and the like, with what is hidden.

    `leave_out` are elements of it that are boilerplate.
    """

    root: HtmlElement
    keep_chrome: bool = False
    keep_hidden: bool = False
    leave_out: frozenset[HtmlElement] = frozenset()

    def read(self, survey: Survey, family: Family, *, on_left_out: OnLeftOut | None = None) -> list[Part]:
        """Return the parts that a page has when it is read so."""
        return read_blocks(
            self.root,
            survey,
            SHAPES[family],
            keep_chrome=self.keep_chrome,
            keep_hidden=self.keep_hidden,
            leave_out=self.leave_out,
            on_left_out=on_left_out,
        )


@dataclass(frozen=True, slots=True)
class Reading:
    """How a page is read, its parts, and each element in its content that is left out as a whole."""

    strategy: ReadStrategy
    parts: list[Part]
    left_out: dict[HtmlElement, SkipReason]

    @classmethod
    def by(cls, strategy: ReadStrategy, survey: Survey, family: Family) -> "Reading":
        """Read a page in this way."""
        left_out: dict[HtmlElement, SkipReason] = {}
        parts = strategy.read(survey, family, on_left_out=left_out.__setitem__)
        return cls(strategy, parts, left_out)


def page_parts(reading: Reading, survey: Survey, content: Content, family: Family) -> list[Part]:
    """Return the page's parts as they were read, under the page's own title."""
    parts = with_lead(survey, replace(content, root=reading.strategy.root), family, reading.parts)
    return mark_titles(without_site_title(parts, stated_title(survey.root)), survey, family)


def choose_reading(survey: Survey, content: Content, family: Family, purpose: Purpose) -> Reading:
    """Return how a page is read, and its parts: all of its content, without what its vote tells to be
    boilerplate.

    It is the first reading that contains enough of the vote, else the fullest, as the structure of the page
    has it; or that one cut down to the vote, where no generator is known whose structure could be trusted.
    """
    if _lists_articles(content.root):
        purpose = Purpose.OTHER
    vote = Vote.of(content.voted if len(content.voted.split()) >= FEW_WORDS else "")
    own = _own_reading(survey, content, family, vote.pairs)
    if family is not Family.PLAIN or not vote.pairs:
        return own
    root = around_title(survey, own.strategy.root)
    strategy = replace(own.strategy, root=root, leave_out=unvoted_elements(root, vote, purpose))
    shorter = Reading.by(strategy, survey, family)
    is_shorter = is_cut_down(
        vote,
        words=_count_words(shorter.parts),
        own_words=_count_words(own.parts) - sum(map(all_words, filter(is_frame, strategy.leave_out))),
        share=_share_of(vote.pairs, shorter.parts),
        purpose=purpose,
    )
    return shorter if is_shorter else own


def _lists_articles(root: HtmlElement) -> bool:
    """Whether several articles stand beside each other: such a page is none, whatever it says."""
    behind = (islice(article.itersiblings("article"), 1, None) for article in root.iter("article"))
    return any(next(others, None) is not None for others in behind)


def _own_reading(survey: Survey, content: Content, family: Family, ballot: Pairs) -> Reading:
    best, most = Reading(ReadStrategy(content.root), [], {}), -1.0
    for strategy in _readings(survey, content):
        reading = Reading.by(strategy, survey, family)
        share = _share_of(ballot, reading.parts)
        if share > most:
            best, most = reading, share
        if most >= COVERAGE:
            break
    return best


def _count_words(parts: Iterable[Part]) -> int:
    return sum(len(part.text.split()) for part in parts if isinstance(part, Heading | Block))


def _readings(survey: Survey, content: Content) -> Iterator[ReadStrategy]:
    body = content.root if content.by is ContentBy.SELECTED else page_body(survey.root)
    above = _above_title(survey, content) if content.by is ContentBy.BODY else frozenset()
    yield ReadStrategy(content.root, leave_out=above)
    if content.voted or count_words(content.root) > 0:
        yield ReadStrategy(content.root, keep_chrome=True)
    if content.root is not body:
        yield ReadStrategy(body)
    yield ReadStrategy(body, keep_hidden=True)


def _above_title(survey: Survey, content: Content) -> frozenset[HtmlElement]:
    """What stands before the page's title and says nothing, where nobody voted on it."""
    title = leading_h1(survey, content)
    up = () if title is None else (title, *title.iterancestors())
    above = (one for at in up for one in at.itersiblings(preceding=True))
    return frozenset(one for one in above if not holds_passage(one))


def _share_of(ballot: Pairs, parts: list[Part]) -> float:
    """How much of the vote the parts contain; where there was none, whether they contain any text."""
    texts = [part.text for part in parts if isinstance(part, Block) and part.text]
    if not ballot:
        return 1.0 if texts else 0.0
    headings = [part.text for part in parts if isinstance(part, Heading)]
    return (ballot & pairs_of(" ".join((*texts, *headings)))).total() / ballot.total()


def with_lead(survey: Survey, content: Content, family: Family, parts: list[Part]) -> list[Part]:
    """Put the title of the page first where no heading says it."""
    lead = leading_h1(survey, content)
    text, number = ("", None) if lead is None else split_heading(lead, numbered=SHAPES[family].numbered)
    if not text or any(isinstance(part, Heading) and part.text == text for part in parts):
        return parts
    return [Heading(text=text, level=1, number=number), *parts]
