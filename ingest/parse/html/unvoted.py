"""Elements within the content that are boilerplate: trafilatura passed them over, and their make does not
speak for them.

trafilatura alone loses lists, tables, code and whole sections amid an article; the element that contains an
article also contains what sites put there: comments, related stories, forms, sharing. So what was not voted
for stays only amid what was, and only if it reads as a part of a text. Measured on the article pages of WCXB
(the half that was looked at), 4-grams: all of the element F1 .912, only what was voted for .916, this .929;
trafilatura .916.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain, islice

from lxml import etree
from lxml.html import HtmlElement

from ingest.parse.html.content import TELLING, Purpose, Vote, block_texts
from ingest.parse.html.dom import HEADING_LEVELS, heading_level, name_parts
from ingest.parse.html.family import SHAPES, Family, is_chrome
from ingest.parse.html.inline import is_permalink
from ingest.parse.html.landmarks import (
    CONTROLS,
    LINKED,
    is_box,
    leads_elsewhere,
    link_words,
    names_heading,
)
from ingest.parse.html.notes import TITLE_TAGS, title_of
from ingest.parse.html.visibility import OPENED, count_all_words, holds_tag, word_set

KEPT = 0.5
"""Least share of the vote that is left of a page cut down to it. With less the vote came from elsewhere
(JSON, attributes), and nothing is cut."""

BELIEVED = 0.6
"""Least share of the content's words that is left, for a vote to be believed on a page that does not say what
it is for. WCXB: with less of it, the vote takes from lists of articles, shops and services more of what they
say than it takes chrome from the others."""

LEAST = 0.3
"""The same of a page that says it is an article: fronts of magazines say so too, and of them less is left."""

PROSE = 0.8
"""Share of the vote in paragraphs from which on the page is an article, whatever stands around it."""

_OF_TEXT = word_set(
    "p ul ol li dl dt dd table tbody tr td th pre blockquote details fieldset figure figcaption"
)
"""Elements of running text: beside or amid voted ones nearly all are of the text, a `div` seldom."""

_OF_FRAME = word_set("aside header footer form nav")
_NAMED = word_set(
    "ad ads advert advertisement author banner bio byline comment comments consent cookie cookies disqus "
    "login newsletter paywall popular promo promotion recommended recommendations related replies reply "
    "respond share sharing sidebar social sponsor subscribe subscription tags teaser teasers trending widget"
)
"""Words of classes and ids by which sites call what they put into an article that is none of it."""

_SOLID = word_set("pre table dl math")
"""What trafilatura loses however it is wrapped."""

_BOXES = word_set("blockquote figure")
"""Boxes by their tag alone: they are of the text or not as paragraphs are."""

_LISTS = word_set("ul ol")

_LONG = 20
"""Words of a `div` from which on it is a passage, not a label, a credit or a button."""

_LINES = 8
"""Siblings between which the heading over a short line and the text below it are sought."""

_ENTRIES = word_set("dt dd")

_MOSTLY = 0.6
"""Share of the words around an element, voted for, from which on what is made as the rest is text."""


def is_cut_down(vote: Vote, *, words: int, own_words: int, share: float, purpose: Purpose) -> bool:
    """Whether a page is read without what its vote passed over, instead of as its structure has it.

    Args: words, own_words: of the two readings, what is a frame by its make apart; share: of the vote, that
    the shorter one has.
    """
    if share < KEPT:
        return False
    least = {Purpose.PRODUCT: 0.0, Purpose.ARTICLE: LEAST}.get(purpose, BELIEVED)
    return words >= least * own_words or vote.prose >= PROSE


def unvoted_elements(root: HtmlElement, vote: Vote, purpose: Purpose) -> frozenset[HtmlElement]:
    """The outermost elements under *root* that are boilerplate.

    Under the pictures of an article stand credits and what the text says, elsewhere what they explain; under
    its headings authors and dates, elsewhere the state and version of what is described.
    """
    tally = _Tally(root, is_article=purpose is Purpose.ARTICLE)
    for block, text in block_texts(root):
        if words := len(text.split()):
            tally.add(block, words, voted=vote.has(text))
    cut = {element for element in tally.unvoted() if not tally.belongs(element)}
    cut.update(heading for heading in tally.bare_headings(cut) if not tally.voted[heading])
    return frozenset(cut)


@dataclass(slots=True)
class _Tally:
    """Words by element, those of all elements below included, and which were voted for."""

    root: HtmlElement
    is_article: bool
    words: Counter[HtmlElement] = field(default_factory=Counter)
    voted: Counter[HtmlElement] = field(default_factory=Counter)
    blocks: list[HtmlElement] = field(default_factory=list)
    beside: set[HtmlElement] = field(default_factory=set)
    places: dict[HtmlElement, int] = field(init=False)
    first: int = 0
    last: int = -1

    def __post_init__(self) -> None:
        self.places = {element: place for place, element in enumerate(self.root.iter(etree.Element))}

    def add(self, block: HtmlElement, words: int, *, voted: bool) -> None:
        """Count a block, in the order of the page."""
        self.blocks.append(block)
        if voted:
            place = self.places[block]
            self.first = place if self.last < 0 else min(self.first, place)
            self.last = max(self.last, place)
        for element in self._up(block):
            self.words[element] += words
            if voted:
                self.voted[element] += words
                self.beside.add(element.getparent())

    def unvoted(self) -> Iterator[HtmlElement]:
        """The outermost elements with words none of which was voted for."""
        waiting = [self.root]
        while waiting:
            for child in waiting.pop():
                if self.voted[child] or (child.tag == "header" and holds_tag(child, "h1")):
                    waiting.append(child)
                elif self.words[child] and not self._is_in_paragraph(child):
                    yield child

    def _is_in_paragraph(self, element: HtmlElement) -> bool:
        """Whether it stands amid the words of a sentence; an unclosed paragraph may hold what is long."""
        around = element.getparent()
        is_within = around is not None and around.tag == "p" and element.tag not in _OF_FRAME
        return is_within and self.words[element] < _LONG

    def belongs(self, element: HtmlElement) -> bool:
        """Whether an element reads as a part of the text that was voted for; headings are judged later."""
        if self._is_title(element) or self._is_attached(element) or _is_label(element):
            return True
        if self._is_section_of_text(element) or self._is_entry(element) or self._has_voted_twin(element):
            return True
        if is_frame(element) or (element.tag == "figure" and self.is_article and not _is_solid(element)):
            return False
        if self._is_line_under_heading(element):
            return True
        is_beside = element.getparent() in self.beside
        if element.tag in _LISTS and is_beside:
            return True
        if link_words(element) >= LINKED * self.words[element] and not holds_tag(element, "pre"):
            return False  # a declaration may be all links to its types
        is_text = element.tag in _OF_TEXT or _is_solid(element)
        is_lead = self.places[element] < self.first and self.words[element] >= 2 * _LONG
        if is_beside and (is_text or is_lead):
            return True
        is_amid = self.first < self.places[element] < self.last
        return is_amid and (is_text or self.words[element] >= _LONG or _says(element) or _is_caption(element))

    def _is_section_of_text(self, element: HtmlElement) -> bool:
        """Whether it is amid the text, under a heading of its own, over a table, code or definitions.

        Manuals call such sections by their subject (`id="tags"`), as sites call their frames.
        """
        is_amid = self.first < self.places[element] < self.last
        has_heading = any(heading_level(child) is not None for child in element)
        few_links = link_words(element) < LINKED * self.words[element]
        return is_amid and has_heading and few_links and element.tag not in _OF_FRAME and _is_solid(element)

    def _has_voted_twin(self, element: HtmlElement) -> bool:
        """Whether it is one of several of a kind, such as posts, of which one or two were voted for."""
        classes, around = (element.get("class") or "").split(), element.getparent()
        if not classes or self.is_article or leads_elsewhere(element):
            return False
        others = (one for one in around.iterchildren(element.tag) if self.voted[one])
        makes = [(one.get("class") or "").split() for one in others]
        if around in self.beside and classes in makes:
            return True
        alike = [make for make in makes if make[:1] == classes[:1]]
        own = name_parts(" ".join(classes)).difference(*(name_parts(" ".join(make)) for make in alike))
        is_text = self.voted[around] >= _MOSTLY * self.words[around]
        return is_text and len(alike) > 1 and own.isdisjoint(_NAMED)

    def _is_entry(self, element: HtmlElement) -> bool:
        """Whether it is a term or definition of a list of which something was voted for.

        Without its term a definition is read under the one before, and a term may be all link: to itself.
        """
        return element.tag in _ENTRIES and self.voted[element.getparent()] > 0

    def _is_line_under_heading(self, element: HtmlElement) -> bool:
        """Whether it is a short line between a heading and voted text, as manuals note state and version."""
        words = self.words[element]
        if self.is_article or words >= _LONG or element.tag in _LISTS or link_words(element) >= words:
            return False
        return self._is_below_heading(element) and self._is_above_text(element)

    def _is_below_heading(self, element: HtmlElement) -> bool:
        """Whether only short lines that nobody voted for stand between a heading and the element."""
        for node in islice(element.itersiblings(preceding=True), _LINES):
            if self.words[node] and self._is_title(node):
                return True
            if self.voted[node] or self.words[node] >= _LONG:
                return False
        return False

    def _is_above_text(self, element: HtmlElement) -> bool:
        """Whether something voted for follows before the next heading."""
        around = element.getparent()
        behind = around.itersiblings() if around is not None and around.tag == "header" else ()
        for node in islice(chain(element.itersiblings(), behind), _LINES):
            if self.words[node] and self._is_title(node):
                return False
            if self.voted[node]:
                return True
        return False

    def _is_attached(self, element: HtmlElement) -> bool:
        """Whether it is a note, or the caption of something voted for: that may stand first or last."""
        if element.tag not in _BOXES and is_box(element):
            is_by_make = element.tag in {"aside", "details"} or element.get("role") == "note"
            return not leads_elsewhere(element) if is_by_make else not _is_named(element)
        return element.getparent() in self.beside and title_of(element) is not None

    def bare_headings(self, cut: Iterable[HtmlElement]) -> Iterator[HtmlElement]:
        """The headings under which nothing stands once *cut* is gone, other than headings of the kind."""
        gone, above = set(cut), list[tuple[int, HtmlElement]]()
        for block in self.blocks:
            if not gone.isdisjoint(self._up(block)):
                continue
            heading = self._heading_of(block)
            level = None if heading is None else heading_level(heading)
            if heading is None or level is None:
                above.clear()
                continue
            if above and above[-1][1] is heading:
                continue
            while above and above[-1][0] >= level:
                yield above.pop()[1]
            above.append((level, heading))
        yield from (heading for _, heading in above)

    def _is_title(self, element: HtmlElement) -> bool:
        """Whether all words under *element* are those of headings."""
        told = (node for node in element.iter(etree.Element) if heading_level(node) is not None)
        headed = sum(count_all_words(link) for link in element.iter("a", "span") if is_permalink(link))
        for heading in told:
            headed += self.words[heading]
        return headed >= self.words[element] or self._heading_of(element) is not None

    def _heading_of(self, block: HtmlElement) -> HtmlElement | None:
        return next((one for one in self._up(block) if heading_level(one) is not None), None)

    def _up(self, element: HtmlElement) -> Iterator[HtmlElement]:
        """The element and those around it, up to the root."""
        at: HtmlElement | None = element
        while at is not None:
            yield at
            at = None if at is self.root else at.getparent()


def is_frame(element: HtmlElement) -> bool:
    """Whether it says itself that it is no text: nobody need believe a vote on it."""
    if element.tag in _OF_FRAME or (_is_named(element) and element.tag not in _SOLID | {"figure"}):
        return True
    if _is_solid(element) or any(count_all_words(text) >= _LONG for text in element.iter("p", "li", "dd")):
        return False
    return any(one.get("type") != "hidden" for one in element.iter(*CONTROLS))


def _is_named(element: HtmlElement) -> bool:
    if not _NAMED.isdisjoint(name_parts(element.get("class") or "")):
        return True
    if not _NAMED.isdisjoint(name_parts(element.get("id") or "")) and not names_heading(element):
        return True
    return is_chrome(element, SHAPES[Family.PLAIN])


def _says(element: HtmlElement) -> bool:
    """Whether a sentence stands in it, under a heading or in what a click opens."""
    opened = next((one for one in element.iter() if one.get("hidden") == OPENED), None)
    if opened is None and next(element.iter(*HEADING_LEVELS), None) is None:
        return False
    return any(count_all_words(text) >= TELLING for text in element.iter("p", "li", "dd"))


def _is_label(element: HtmlElement) -> bool:
    """Whether it stands over what a click on it opens."""
    panel = element.getnext()
    return panel is not None and panel.get("hidden") == OPENED and _says(panel)


def _is_solid(element: HtmlElement) -> bool:
    return holds_tag(element, *_SOLID)


def _is_caption(element: HtmlElement) -> bool:
    return any(title_of(node) is not None for node in element.iter(*TITLE_TAGS))
