"""The content of a page as parts, and the text that is left out, with reasons.

It is read narrowly first, then wider until it contains what was voted for, then without what the vote passed
over, if the vote is to be believed.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from lxml import etree
from lxml.html import HtmlElement

from ingest.parse.html.blocks import read_blocks
from ingest.parse.html.code import has_line_numbers
from ingest.parse.html.content import (
    FEW_WORDS,
    Content,
    ContentBy,
    Pairs,
    Purpose,
    Vote,
    around_title,
    count_words,
    leading_h1,
    page_body,
    pairs_of,
)
from ingest.parse.html.dom import Survey, heading_level, parse_tree, stated_title
from ingest.parse.html.family import SHAPES, Family, mark_titles
from ingest.parse.html.formulas import math_text
from ingest.parse.html.inline import is_permalink, split_heading
from ingest.parse.html.landmarks import holds_passage
from ingest.parse.html.unvoted import is_cut_down, is_frame, unvoted_elements
from ingest.parse.html.visibility import UNSEEN_TAGS, SkipReason, count_all_words, is_hidden
from ingest.parse.outline import Block, Heading, Part
from ingest.parse.wording import RUN_ON, UNSHOWN, rest_of, without_figures

_BETWEEN = re.compile(r"\s+(?:[|–—·»-]|::)\s+")
"""What stands between the names of page and site in a title element."""


def find_site_title(parts: Sequence[Part], stated: str) -> Heading | None:
    """The first h1, if *stated*, the title element, ends with it and begins with the heading after it."""
    headings = [part for part in parts if isinstance(part, Heading)][:2]
    names = [name.casefold() for name in _BETWEEN.split(stated)]
    if len(headings) < 2 or len(names) < 2 or headings[0].level != 1:
        return None
    site, page = (heading.text.casefold() for heading in headings)
    return headings[0] if (page, site) == (names[0], names[-1]) else None


def without_site_title(parts: Sequence[Part], stated: str) -> list[Part]:
    """Drop the site's name, and make the heading after it, the page's own, the h1; it takes over the ids.

    Else all pages of a site have one title; and where it has a version, all passages get another heading
    path, and another vector, with each release.
    """
    site = find_site_title(parts, stated)
    if site is None:
        return list(parts)
    left = [part for part in parts if part is not site]
    page = next(part for part in left if isinstance(part, Heading))
    ids = (*filter(None, (site.fragment,)), *site.aliases, *page.aliases)
    return [replace(page, level=1, aliases=ids) if part is page else part for part in left]


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
        parts = read_blocks(
            strategy.root,
            survey,
            SHAPES[family],
            keep_chrome=strategy.keep_chrome,
            keep_hidden=strategy.keep_hidden,
            leave_out=strategy.leave_out,
            on_left_out=left_out.__setitem__,
        )
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
        own_words=_count_words(own.parts) - sum(map(count_all_words, filter(is_frame, strategy.leave_out))),
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
    """Words that the vote may count: what pictures show is none of its."""
    return sum(len(without_figures(part.text).split()) for part in parts if isinstance(part, Heading | Block))


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


OUTSIDE = "outside of the content"
CLEANED = "removed or not selected by the source"
LABEL = "label of a table of contents"


def unread_texts(
    survey: Survey, content: Content, family: Family, reading: Reading, *, came: str | None
) -> Iterator[tuple[str, str]]:
    """Yield texts that are not read, each behind its reason; what needs a look at every element comes last.

    Args: came: the markup before the source's selectors and its hook were at it; None: there are none.
    """
    root, body = reading.strategy.root, page_body(survey.root)
    content = replace(content, root=root)
    if root is not body:
        lead = leading_h1(survey, content)
        yield OUTSIDE, account_text(body, without=(root,) if lead is None else (root, lead))
    for element, reason in reading.left_out.items():
        yield reason.value, account_text(element)
    if came is not None:
        yield CLEANED, rest_of(account_text(parse_tree(came, subject="")), account_text(survey.root))
    if site := find_site_title(with_lead(survey, content, family, reading.parts), stated_title(survey.root)):
        yield SkipReason.SITE_TITLE.value, site.text
    yield from _unread_within(root, reading, family)


def _unread_within(root: HtmlElement, reading: Reading, family: Family) -> Iterator[tuple[str, str]]:
    """What is read as one piece (headings, tables, code) leaves such elements out by itself."""
    walk = etree.iterwalk(root, events=("start",))
    for _, element in walk:
        if element in reading.left_out:
            walk.skip_subtree()
        elif element.tag == "math":
            walk.skip_subtree()
            yield SkipReason.REPEATED.value, rest_of(account_text(element), math_text(element))
        elif (why := _why_unread(element, reading, family)) is not None:
            walk.skip_subtree()
            yield why, account_text(element)


def _why_unread(element: HtmlElement, reading: Reading, family: Family) -> str | None:
    if element.tag in UNSEEN_TAGS:
        return SkipReason.UNREAD.value
    if is_permalink(element):
        return SkipReason.PERMALINK.value
    if has_line_numbers(element):
        return SkipReason.LINE_NUMBERS.value
    if not reading.strategy.keep_hidden and is_hidden(element):
        return SkipReason.HIDDEN.value
    is_label = heading_level(element) and not split_heading(element, numbered=SHAPES[family].numbered)[0]
    return LABEL if is_label else None


def account_text(root: HtmlElement, *, without: Collection[HtmlElement] = ()) -> str:
    """Return the text of an element as the account sees it, *without* some elements in it."""
    pieces: list[str] = []
    walk = etree.iterwalk(root, events=("start", "end"))
    for event, element in walk:
        tag = element.tag
        if tag not in RUN_ON:
            pieces.append(" ")
        if event == "start" and (tag in UNSHOWN or element in without):
            walk.skip_subtree()
        elif event == "start":
            pieces.append(element.text or "")
        elif element is not root:
            pieces.append(element.tail or "")
    return "".join(pieces)
