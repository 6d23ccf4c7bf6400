"""What of a page the parser leaves out, and why: told to the account of words, as far as that asks."""

from collections.abc import Collection, Iterator
from dataclasses import replace

from lxml import etree
from lxml.html import HtmlElement

from ingest.parse.folded_words import RUN_ON, UNSHOWN, rest_of
from ingest.parse.html.code import has_line_numbers
from ingest.parse.html.content import Content, leading_h1, page_body
from ingest.parse.html.dom import Survey, heading_level, parse_tree, stated_title
from ingest.parse.html.family import SHAPES, Family
from ingest.parse.html.formulas import math_text
from ingest.parse.html.inline import is_permalink, split_heading
from ingest.parse.html.left_out import SkipReason
from ingest.parse.html.reading import Reading, with_lead
from ingest.parse.html.site_title import find_site_title
from ingest.parse.html.visibility import UNSEEN_TAGS, is_hidden

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
        yield OUTSIDE, shown_text(body, without=(root,) if lead is None else (root, lead))
    for element, reason in reading.left_out.items():
        yield reason.value, shown_text(element)
    if came is not None:
        yield CLEANED, rest_of(shown_text(parse_tree(came, subject="")), shown_text(survey.root))
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
            yield SkipReason.REPEATED.value, rest_of(shown_text(element), math_text(element))
        elif (why := _why_unread(element, reading, family)) is not None:
            walk.skip_subtree()
            yield why, shown_text(element)


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


def shown_text(root: HtmlElement, *, without: Collection[HtmlElement] = ()) -> str:
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
