"""Which element of a page contains its content, by its make, its purpose and the vote of trafilatura.

A family's own container is taken without a vote when it contains a sane share of the page's words; other
pages are put to trafilatura, whose text is a vote on each block of the DOM. Measured: a vote costs 6 to 30
CPU-ms a page, more than all the rest; without it the 1,169 pages of a PostgreSQL manual go at 130 a
CPU-second, and their 4,725 headings h1-h4 come out as sections in order, none missing, none added.

Source of the purpose: schema.org types in JSON-LD and microdata, the Open Graph protocol's `og:type` and
`article:published_time`.
"""

import logging
import re
from collections import Counter
from collections.abc import Collection, Iterator
from copy import deepcopy
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

from lxml import etree
from lxml.html import HtmlElement

from ingest.parse.html.dom import (
    HEADING_LEVELS,
    Survey,
    heading_level,
    meta_contents,
    name_parts,
    normal_space,
    stated_title,
)
from ingest.parse.html.family import Family, find_container
from ingest.parse.html.landmarks import own_landmark
from ingest.parse.html.visibility import (
    BLOCK_TAGS,
    STRIKE,
    UNSEEN_TAGS,
    is_hidden,
    raw_text,
    strip_invisible,
    word_set,
)
from schemas.edges import LinkPosition

FEW_WORDS = 50
"""A vote of fewer words is none: trafilatura is made for articles."""

VOTED_PAIRS = 0.7
"""Share of a text's word pairs that stand in the vote too, from which on the text was voted for."""

TELLING = 5
"""Words of a text from which on it is no chance that they stand in the vote; fewer must be a line of it."""

_LONG_LINE = 30
"""Words of a paragraph: teasers, cards and entries of a list are shorter."""

Pairs = Counter[tuple[str, str]]

_WORD = re.compile(r"\w+")
_SPACES = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Vote:
    """A vote in the forms that texts are compared with: without spaces, by line or cell, by word pairs."""

    text: str
    squashed: str
    lines: frozenset[str]
    pairs: Pairs

    @classmethod
    def of(cls, text: str) -> "Vote":
        """Prepare the text that was voted for; its lines are blocks, marked as items of a list or cells."""
        lines = (part for line in text.splitlines() for part in (line.strip("- "), *line.split("|")))
        return cls(text, squash(text), frozenset(filter(None, map(squash, lines))), pairs_of(text))

    def has(self, text: str) -> bool:
        """Whether *text* was voted for, or nearly all of it: how its spaces are set makes no difference."""
        key = squash(text)
        if len(text.split()) < TELLING:
            return key in self.lines
        return key in self.squashed or self._has_pairs(text)

    def _has_pairs(self, text: str) -> bool:
        pairs = pairs_of(text)
        return sum(pair in self.pairs for pair in pairs) >= VOTED_PAIRS * len(pairs)

    @property
    def prose(self) -> float:
        """Share of the words that stand in paragraphs."""
        lengths = [len(line.split()) for line in self.text.splitlines()]
        return sum(length for length in lengths if length >= _LONG_LINE) / max(1, sum(lengths))


def squash(text: str) -> str:
    """Take out all white space."""
    return _SPACES.sub("", text)


def pairs_of(text: str) -> Pairs:
    """Neighbouring words: how lines are broken, and what marks a list, makes no difference."""
    words = _WORD.findall(text.lower())
    return Counter(pairwise(words)) or Counter((word, "") for word in words)


_STATED_TYPE = re.compile(r'"@type"\s*:\s*\[?\s*"(?:https?://schema\.org/)?(\w+)"')
_PRODUCTS = frozenset(
    {"product", "productgroup", "individualproduct", "productmodel", "product.item", "og:product"}
)
_DISCUSSIONS = frozenset({"discussionforumposting", "qapage", "question"})
_ARTICLES = word_set(
    "article newsarticle blogposting reportagenewsarticle opinionnewsarticle scholarlyarticle recipe"
)
"""Texts with a beginning and an end; not `techarticle`, which is a page of a manual."""

_COLLECTIONS = frozenset({"collectionpage", "itemlist", "searchresultspage"})
"""What lists pages: content management systems call that an article too."""

_LONGEST_SCRIPT = 262_144


class Purpose(StrEnum):
    """Kinds of pages whose content needs another rule than prose."""

    ARTICLE = "article"
    PRODUCT = "product"
    DISCUSSION = "discussion"
    OTHER = "other"


def stated_purpose(root: HtmlElement) -> Purpose:
    """Detect a page's purpose by its Open Graph type, JSON-LD and microdata."""
    types = {name.strip().lower() for name in meta_contents(root, "og:type")}
    stated = "article" in types or any(meta_contents(root, "article:published_time"))
    entities = Counter[str]()
    for script in root.iter("script"):
        text = script.text
        if script.get("type") == "application/ld+json" and text and len(text) <= _LONGEST_SCRIPT:
            entities.update(name.lower() for name in _STATED_TYPE.findall(text))
    entities.update(item.rpartition("/")[2].lower() for item in root.xpath("//@itemtype"))
    types.update(entities)
    if not types.isdisjoint(_DISCUSSIONS):
        return Purpose.DISCUSSION
    if not types.isdisjoint(_PRODUCTS):
        return Purpose.PRODUCT
    articles = sum(entities[name] for name in _ARTICLES)
    is_article = (stated or articles == 1) and types.isdisjoint(_COLLECTIONS)
    return Purpose.ARTICLE if is_article else Purpose.OTHER


MIN_SHARE = 0.25
"""Least share of the page's words a family's container must contain to be believed without a vote."""

VOTED_SHARE = 0.9
CONTAINER_RANGE = (0.8, 3.0)
"""Content root: smallest element with 90 % of the voted words, but the container if it contains .8 to 3 times
as many words as were voted for. WCXB documentation pages: word F1 .924 against trafilatura's own .917."""

POST_WORDS = 20
"""Words that make an element a post of a thread, not an entry of a menu."""

MAX_VOTED = 50_000
"""Elements above which a page is not put to the vote: 2 MB of <p> take trafilatura over 12 s."""

MAX_SLOWLY = 10_000
"""Elements above which trafilatura goes its fast way alone: the others take several times as long."""

_OUTER = frozenset({LinkPosition.NAV, LinkPosition.ASIDE, LinkPosition.FOOTER})
_FRAMES = word_set("article body center div fieldset form main section table tbody td tr")
_POSTS = word_set("post message comment answer reply")


class ContentBy(StrEnum):
    """What decided on the content root."""

    CONTAINER = "container"
    VOTE = "vote"
    BODY = "body"
    SELECTED = "selected"


@dataclass(frozen=True, slots=True)
class Content:
    """The element that contains a page's content, how it was found, and the text voted for, if any was.

    `lead` is the h1 outside of what a source's selectors chose.
    """

    root: HtmlElement
    by: ContentBy
    voted: str = ""
    lead: HtmlElement | None = None


def find_content(survey: Survey, family: Family, purpose: Purpose = Purpose.OTHER) -> Content:
    """Return the content root; a page that has words always has one."""
    body = page_body(survey.root)
    container = find_container(survey, family)
    if family is not Family.PLAIN and container is not None and _holds_enough(container, body):
        return Content(container, ContentBy.CONTAINER)
    fast = len(survey.nodes) > MAX_SLOWLY
    voted = _voted_text(survey.root, purpose, fast=fast) if len(survey.nodes) <= MAX_VOTED else ""
    words = len(voted.split())
    if words < FEW_WORDS:
        if container is not None and _holds_enough(container, body):
            return Content(container, ContentBy.CONTAINER, voted)
        return Content(body, ContentBy.BODY, voted)
    if family is Family.PLAIN and container is not None:
        container = _thread_of(container, body)
    low, high = CONTAINER_RANGE
    if container is not None and low * words <= count_words(container) <= high * words:
        return Content(container, ContentBy.CONTAINER, voted)
    root = _smallest_with(body, voted)
    if root is body and count_words(body) <= words < 3 * FEW_WORDS:
        return Content(body, ContentBy.BODY)  # all of a short page is no choice
    if root is None:
        return Content(body, ContentBy.BODY, voted)
    return Content(_thread_of(root, body), ContentBy.VOTE, voted)


def count_words(element: HtmlElement) -> int:
    """Words of all visible text under *element*."""
    return sum(len(text.split()) for _, text in _visible_texts(element))


def page_body(root: HtmlElement) -> HtmlElement:
    """The body element, or the root of a tree that has none (frames)."""
    body = root.find("body")
    return root if body is None else body


def _holds_enough(container: HtmlElement, body: HtmlElement) -> bool:
    if container is body:
        return True
    words = count_words(container)
    around = sum(len(text.split()) for _, text in _visible_texts(body, without=_OUTER))
    return words > 0 and words >= MIN_SHARE * around


def _visible_texts(
    element: HtmlElement, *, without: frozenset[LinkPosition] = frozenset()
) -> Iterator[tuple[HtmlElement, str]]:
    """Each text with the element it stands in, without scripts, hidden parts, nav and footer."""
    walk = etree.iterwalk(element, events=("start", "end"))
    for event, node in walk:
        if event == "start":
            if node is not element and (_is_aside(node) or (without and own_landmark(node) in without)):
                walk.skip_subtree()
            elif node.text:
                yield node, node.text
        elif node is not element and node.tail:
            yield node.getparent(), node.tail


def _is_aside(element: HtmlElement) -> bool:
    if element.tag in UNSEEN_TAGS or element.tag == STRIKE or is_hidden(element):
        return True
    return element.tag in {"nav", "footer"} or element.get("role") in {"navigation", "contentinfo"}


def _voted_text(root: HtmlElement, purpose: Purpose, *, fast: bool) -> str:
    """What trafilatura takes for content; "" if nothing. It changes the tree it is given.

    What follows the first post of a discussion is content, not comments on it. Not *fast*, it compares its
    own finding with those of jusText and readability, by which 4-gram F1 is .02 higher on articles (WCXB).
    """
    from trafilatura import extract

    # It logs a warning for each page that is not an article; what was found is said by ContentBy.
    logging.getLogger("trafilatura").setLevel(logging.CRITICAL)
    voted = extract(_ballot(root), fast=fast, include_comments=purpose is Purpose.DISCUSSION)
    return strip_invisible(voted or "")


def _ballot(root: HtmlElement) -> HtmlElement:
    """A copy without spans: trafilatura expands them without limit, 20 KB of table take it a minute."""
    copy = deepcopy(root)
    etree.strip_elements(copy, STRIKE, with_tail=False)
    for cell in copy.iter("td", "th"):
        cell.attrib.pop("colspan", None)
        cell.attrib.pop("rowspan", None)
    return copy


def _smallest_with(body: HtmlElement, voted: str) -> HtmlElement | None:
    """The deepest element that contains VOTED_SHARE of the words of the blocks voted for."""
    ballot = squash(voted)
    words: Counter[HtmlElement] = Counter()
    total = 0
    for block, text in block_texts(body):
        key = squash(text)
        if key and key in ballot:
            count = len(text.split())
            total += count
            at: HtmlElement | None = block
            while at is not None and at is not body.getparent():
                words[at] += count
                at = at.getparent()
    if not total:
        return None
    return _descend(body, words, VOTED_SHARE * total)


def _thread_of(root: HtmlElement, body: HtmlElement) -> HtmlElement:
    """The element around all posts of a thread where *root* lies in one of them, else *root*.

    Posts are of one tag and one first class, each with a sentence's worth of words.
    """
    for at in (root, *root.iterancestors()):
        class_ = at.get("class") or ""
        name = class_.split()[:1]
        if at is body or (at.tag != "article" and _POSTS.isdisjoint(name_parts(class_))):
            continue
        alike = (post for post in body.iter(at.tag) if (post.get("class") or "").split()[:1] == name)
        posts = [post for post in alike if post is at or count_words(post) >= POST_WORDS]
        if len(posts) > 1:
            return _around_all(posts)
    return root


def _around_all(elements: list[HtmlElement]) -> HtmlElement:
    """The deepest element that contains all of *elements*."""
    shared = set(elements[0].iterancestors())
    for element in elements[1:]:
        shared &= set(element.iterancestors())
    return next(above for above in elements[0].iterancestors() if above in shared)


def block_texts(body: HtmlElement) -> Iterator[tuple[HtmlElement, str]]:
    """Each block under *body* with the visible text that stands in it and in no block inside it."""
    texts: dict[HtmlElement, list[str]] = {}
    for element, text in _visible_texts(body):
        at = element
        while at.tag not in BLOCK_TAGS and at is not body:
            at = at.getparent()
        texts.setdefault(at, []).append(text)
    for block, pieces in texts.items():
        yield block, strip_invisible("".join(pieces))


def _descend(body: HtmlElement, words: Counter[HtmlElement], enough: float) -> HtmlElement:
    at = body
    while True:
        below = next((child for child in at if words[child] >= enough and child.tag in _FRAMES), None)
        if below is None:
            return at
        at = below


def around_title(survey: Survey, root: HtmlElement) -> HtmlElement:
    """The smallest element around *root* and the heading over it that names the page; *root* without such.

    The vote is for prose, so its element often begins below the heading, and beside what a table says.
    """
    stated = stated_title(survey.root).lower()
    body, inside = page_body(survey.root), set(root.iter(*HEADING_LEVELS))
    above = [one for one in survey.root.iter(*HEADING_LEVELS) if one not in inside]
    first = [one for one in above if one.tag == "h1"]
    named = [one for one in above if stated.startswith(normal_space(raw_text(one)).lower() or "\n")]
    if any(one.tag == "h1" for one in inside) or not (len(first) == 1 or named):
        return root
    around = _around_all([root, first[0] if len(first) == 1 else named[0]])
    return root if around is body or around is survey.root else around


def leading_h1(survey: Survey, content: Content) -> HtmlElement | None:
    """The page's h1, the one that the title element says where there are several.

    The name of the site, which leads to its start, says nothing of the page.
    """
    if content.by is ContentBy.SELECTED:
        return content.lead
    seen = (h1 for h1 in survey.root.iter("h1") if survey.hidden.isdisjoint((h1, *h1.iterancestors())))
    found = [h1 for h1 in seen if heading_level(h1) is not None]
    stated = f"{stated_title(survey.root)}:".lower()
    named = ((h1, normal_space(raw_text(h1)).lower() or "\n") for h1 in found)
    said = next((h1 for h1, text in named if stated.startswith(text) or f": {text}:" in stated), None)
    return _only_h1(found, outside=[]) if said is None else said


def selected_lead(
    root: HtmlElement, selected: Collection[HtmlElement], removed: Collection[HtmlElement]
) -> HtmlElement | None:
    """The page's only h1 besides those that were removed, where it stands outside of what was selected."""
    gone = set(removed)
    found = [h1 for h1 in root.iter("h1") if gone.isdisjoint((h1, *h1.iterancestors()))]
    return _only_h1(found, outside=selected)


def _only_h1(found: list[HtmlElement], *, outside: Collection[HtmlElement]) -> HtmlElement | None:
    if (
        len(found) != 1
        or heading_level(found[0]) is None
        or any(own_landmark(node) in _OUTER for node in found[0].iterancestors())
    ):
        return None
    return found[0] if set(outside).isdisjoint((found[0], *found[0].iterancestors())) else None
