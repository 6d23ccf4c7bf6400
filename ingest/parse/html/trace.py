"""What of a page's text is read and what is not, block by block, and why; for people who look at a parse."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum

from lxml import etree
from lxml.html import HtmlElement

from ingest.parse.html.charset import cut_markup
from ingest.parse.html.cleaning import CleanedPage, RunHook
from ingest.parse.html.content import FEW_WORDS, TELLING, ContentBy, leading_h1, page_body
from ingest.parse.html.dom import HEADING_LEVELS, heading_level, normal_space, parse_tree, stated_title
from ingest.parse.html.hints import base_of, feeds_of
from ingest.parse.html.inline import inline_text, is_permalink
from ingest.parse.html.landmarks import own_landmark
from ingest.parse.html.page import RecognisedPage, recognise_page
from ingest.parse.html.reading import ReadStrategy, choose_reading, find_site_title, with_lead
from ingest.parse.html.visibility import (
    BLOCK_TAGS,
    UNSEEN_TAGS,
    SkipReason,
    is_hidden,
    strip_invisible,
    word_set,
)
from ingest.parse.outline import Part
from schemas.edges import LinkPosition
from schemas.fragment import ParseRequest, label

PASSED_OVER = "trafilatura took it for boilerplate, and it does not read as a part of the text"
"""The reason of what the vote cuts out of the content."""


class BlockStatus(StrEnum):
    """What became of a block."""

    READ = "read"
    LEFT_OUT = "left_out"  # inside the content, and by a rule of the reader not read
    OUTSIDE = "outside"  # not in the element that contains the content


@dataclass(frozen=True, slots=True, kw_only=True)
class TracedBlock:
    """Text of a page in one block, or in all of an element that is not read; lines where blocks end.

    `reason` is empty for what is read. `culprit` names the element that the verdict is about, `place` the
    block itself with the two elements around it. `level` is a heading's. `voted` counts the words in blocks
    (of five and more) that trafilatura took for content, None where it was not asked or said next to nothing.
    """

    text: str
    verdict: BlockStatus
    place: str
    reason: str = ""
    culprit: str = ""
    level: int = 0
    words: int = 0
    voted: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CleaningStep:
    """What a selector matched, by its name: elements, and words in them; of a hook, how many it took."""

    name: str
    elements: int
    words: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PageTrace:
    """How a page's content was found, and all of its text; `feeds` are those that its head names.

    `cleaning` has a step for each part of what the source says of cleaning.
    """

    family: str
    purpose: str
    decided_by: str
    content: str
    explanation: str
    blocks: tuple[TracedBlock, ...]
    cleaning: tuple[CleaningStep, ...] = ()
    feeds: tuple[str, ...] = ()


_BLOCKS = BLOCK_TAGS - {"td", "th"}
_CELLS = word_set("td th br")
"""A row is one block, but its cells are apart."""

_NO_TEXT = word_set("script style template head svg math")
"""Their text is no words of the page; of formulas the source in TeX is read, which the page does not show."""

_LONGEST_NAME = 60


@dataclass(frozen=True, slots=True)
class _Fate:
    """What happens to all text below an element, unless one further down has a fate of its own."""

    verdict: BlockStatus
    element: HtmlElement
    reason: str = ""


def trace_html(data: bytes, request: ParseRequest, *, run_hook: RunHook | None = None) -> PageTrace:
    """Go through a page as `parse_html` does and say of all of its text what became of it.

    Raises: ParseError: there is no element in the bytes, or a hook failed.
    """
    page = recognise_page(cut_markup(data)[0], request, run_hook=run_hook)
    read = choose_reading(page.survey, page.content, page.family, page.purpose)
    reading, left_out = read.strategy, read.left_out
    left_out |= dict.fromkeys(_site_titles(page, reading, read.parts), SkipReason.SITE_TITLE)
    tracer = _Tracer(page, reading, left_out)
    return PageTrace(
        family=page.family.value,
        purpose=page.purpose.value,
        decided_by=page.content.by.value,
        content=name_element(reading.root),
        explanation=_explain(page, reading),
        blocks=(*tracer.blocks(), *_removed(page.cleaned)),
        cleaning=tuple(_steps(page, request)),
        feeds=feeds_of(page.whole.root, base=base_of(page.whole.root, request.uri)),
    )


def _site_titles(page: RecognisedPage, reading: ReadStrategy, parts: list[Part]) -> Iterator[HtmlElement]:
    survey = page.survey
    led = with_lead(survey, replace(page.content, root=reading.root), page.family, parts)
    if site := find_site_title(led, stated_title(survey.root)):
        yield from (h1 for h1 in survey.root.iter("h1") if inline_text(h1) == site.text)


def _removed(cleaned: CleanedPage | None) -> Iterator[TracedBlock]:
    """What was taken off the page, which stands in it no more."""
    gone: set[HtmlElement] = set()
    for name, element in cleaned.removed if cleaned else ():
        text = _text(element)
        if text and gone.isdisjoint((element, *element.iterancestors())):
            yield TracedBlock(
                text=text,
                verdict=BlockStatus.LEFT_OUT,
                place=_place(element),
                reason=f"removed by {name}",
                culprit=name_element(element),
                words=len(text.split()),
            )
        gone.add(element)


def _steps(page: RecognisedPage, request: ParseRequest) -> Iterator[CleaningStep]:
    """What each part of the source's cleaning did, in the order of the source file, what did nothing too."""
    cleaned, cleaning = page.cleaned, request.cleaning
    if cleaned is None or cleaning is None:
        return
    if cleaning.hook is not None:
        before, after = parse_tree(page.markup, subject=request.uri), cleaned.whole
        elements, words = (count(before) - count(after) for count in (_count_elements, _count_words))
        yield CleaningStep(name=f"clean {cleaning.hook.name}", elements=elements, words=words)
    found = (*cleaned.selected, *cleaned.removed)
    for name in cleaning.labels():
        matched = [element for other, element in found if other == name]
        if cleaning.title is not None and name == label("title", cleaning.title):
            told = cleaned.title if name in cleaned.matched else ""
            yield CleaningStep(name=name, elements=int(name in cleaned.matched), words=len(told.split()))
        else:
            yield CleaningStep(name=name, elements=len(matched), words=sum(map(_count_words, matched)))


def _count_elements(root: HtmlElement) -> int:
    return sum(1 for _ in root.iter(etree.Element))


def _count_words(element: HtmlElement) -> int:
    return len(_text(element).split())


def _text(element: HtmlElement) -> str:
    """All text of an element that is none of scripts, whose blocks are apart."""
    pieces: list[str] = []
    walk = etree.iterwalk(element, events=("start", "end"))
    for event, node in walk:
        if node is not element and (node.tag in _BLOCKS or node.tag in _CELLS):
            pieces.append(" ")
        if event == "start" and node.tag in _NO_TEXT:
            walk.skip_subtree()
        elif event == "start":
            pieces.append(node.text or "")
        elif node is not element:
            pieces.append(node.tail or "")
    return normal_space(strip_invisible("".join(pieces)))


def _explain(page: RecognisedPage, reading: ReadStrategy) -> str:
    found = {
        ContentBy.CONTAINER: f"the container of {page.family.value} pages",
        ContentBy.VOTE: "the smallest element with nearly all that trafilatura took for content",
        ContentBy.BODY: "the whole body, since nothing told content from boilerplate",
        ContentBy.SELECTED: "what content.select of the source chose",
    }[page.content.by]
    notes = [found]
    if reading.root is not page.content.root:
        notes.append("read wider, since that held too little of the text")
    if reading.leave_out:
        notes.append("without what the vote passed over")
    if reading.keep_chrome:
        notes.append("with tables of contents and the like, since the page is little else")
    if reading.keep_hidden:
        notes.append("with what is hidden, since the page is hidden as a whole")
    return "; ".join(notes)


@dataclass(slots=True)
class _Tracer:
    page: RecognisedPage
    reading: ReadStrategy
    left_out: dict[HtmlElement, SkipReason]
    around: frozenset[HtmlElement] = field(init=False)
    lead: HtmlElement | None = field(init=False)
    ballot: str = field(init=False)

    def __post_init__(self) -> None:
        self.around = frozenset(self.reading.root.iterancestors())
        read = replace(self.page.content, root=self.reading.root)
        lead = leading_h1(self.page.survey, read)
        self.lead = None if lead in self.left_out else lead
        voted = self.page.content.voted
        self.ballot = "".join(voted.split()) if len(voted.split()) >= FEW_WORDS else ""

    def blocks(self) -> Iterator[TracedBlock]:
        """Return the text of the body in order; what shares a fate that is not to be read is one block."""
        held: tuple[_Fate, HtmlElement] | None = None
        lines: dict[HtmlElement, list[str]] = {}
        for fate, block, text in self._texts():
            key = (fate, block if fate.verdict is BlockStatus.READ else fate.element)
            if held is not None and key != held:
                yield from self._block(*held, lines)
                lines = {}
            held = key
            lines.setdefault(block, []).append(text)
        if held is not None:
            yield from self._block(*held, lines)

    def _texts(self) -> Iterator[tuple[_Fate, HtmlElement, str]]:
        """Each text with its fate and the block that it stands in."""
        body = page_body(self.page.survey.root)
        fates = [self._fate_of(body, None)]
        blocks = [body]
        walk = etree.iterwalk(body, events=("start", "end"))
        for event, element in walk:
            if event == "start":
                if element.tag in _NO_TEXT:
                    walk.skip_subtree()
                elif element is not body:
                    fates.append(self._fate_of(element, fates[-1]))
                    opens_block = element.tag in _BLOCKS and blocks[-1].tag not in HEADING_LEVELS
                    blocks.append(element if opens_block else blocks[-1])
                text = None if element.tag in _NO_TEXT else element.text
                if element.tag in _CELLS:
                    text = f" {text or ''}"
            else:
                if element is not body and element.tag not in _NO_TEXT:
                    fates.pop()
                    blocks.pop()
                text = None if element is body else element.tail
            if text:
                yield fates[-1], blocks[-1], text

    def _fate_of(self, element: HtmlElement, above: _Fate | None) -> _Fate:
        if element is self.reading.root or element is self.lead:
            return _Fate(BlockStatus.READ, element)
        if element in self.around:
            return _Fate(BlockStatus.OUTSIDE, element, self._reason_outside())
        if above is not None and above.verdict is BlockStatus.READ:
            why = self.left_out.get(element) or self._unread(element)
            return above if why is None else _Fate(BlockStatus.LEFT_OUT, element, self._reason_for(why))
        if above is not None and above.verdict is BlockStatus.OUTSIDE and above.element in self.around:
            above = _Fate(BlockStatus.OUTSIDE, element, above.reason)
        return self._outside(element, above)

    def _unread(self, element: HtmlElement) -> SkipReason | None:
        """What is read as one piece (headings, tables, code) leaves such elements out by itself."""
        if element.tag in UNSEEN_TAGS:
            return SkipReason.UNREAD
        if is_hidden(element) and not self.reading.keep_hidden:
            return SkipReason.HIDDEN
        return SkipReason.PERMALINK if is_permalink(element) else None

    def _outside(self, element: HtmlElement, above: _Fate | None) -> _Fate:
        """The fate of the branch, or a better reason: what the element says of itself."""
        assert above is not None
        if above.reason != self._reason_outside():
            return above
        if is_hidden(element):
            return _Fate(BlockStatus.OUTSIDE, element, "hidden, and outside of the content")
        landmark = own_landmark(element)
        if landmark is None or landmark is LinkPosition.BODY:
            return above
        return _Fate(BlockStatus.OUTSIDE, element, f"{landmark.value} landmark, outside of the content")

    def _reason_outside(self) -> str:
        if self.page.content.by is ContentBy.VOTE:
            return _VOTED_OUT
        if self.page.content.by is ContentBy.SELECTED:
            return "outside of what content.select chose"
        return f"outside of {name_element(self.reading.root)}, which holds the content"

    def _reason_for(self, why: SkipReason) -> str:
        if why is SkipReason.CHROME:
            return f"{self.page.family.value} pages write it around their content"
        return _REASONS[why]

    def _block(
        self, fate: _Fate, block: HtmlElement, lines: dict[HtmlElement, list[str]]
    ) -> Iterator[TracedBlock]:
        texts = {at: normal_space(strip_invisible("".join(pieces))) for at, pieces in lines.items()}
        if block.tag == "pre":
            texts = {at: strip_invisible("".join(pieces)).strip("\n") for at, pieces in lines.items()}
        text = "\n".join(filter(None, texts.values()))
        if not text.strip():
            return
        is_read = fate.verdict is BlockStatus.READ
        voted = sum(map(self._voted_words, texts.values())) if self.ballot else None
        yield TracedBlock(
            text=text,
            verdict=fate.verdict,
            place=_place(block),
            reason=_OUTVOTED if voted and fate.reason == _VOTED_OUT else fate.reason,
            culprit="" if is_read else name_element(fate.element),
            level=heading_level(block) or 0 if is_read else 0,
            words=len(text.split()),
            voted=voted,
        )

    def _voted_words(self, text: str) -> int:
        words = text.split()
        return len(words) if len(words) >= TELLING and "".join(words) in self.ballot else 0


_VOTED_OUT = "trafilatura took it for boilerplate"
_OUTVOTED = "outside of the element with nearly all that trafilatura took for content"
_REASONS = {
    SkipReason.UNREAD: "a tag whose text is none of the page's",
    SkipReason.HIDDEN: "hidden from readers",
    SkipReason.PERMALINK: "a link to the place itself, to the top or to source code",
    SkipReason.LINE_NUMBERS: "line numbers of code",
    SkipReason.REPEATED: "read elsewhere: labels of tabs with their panels, formulas by their source",
    SkipReason.SITE_TITLE: "the name of the site; the heading below it is the page's title",
    SkipReason.UNVOTED: PASSED_OVER,
    SkipReason.LANDMARK: "navigation, search, footer or aside by tag or role",
}


def name_element(element: HtmlElement) -> str:
    """Return tag, id and classes as a CSS selector would: `div#top.navheader`."""
    classes = "".join(f".{name}" for name in (element.get("class") or "").split())
    role = element.get("role")
    id_ = element.get("id")
    name = f"{element.tag}{f'#{id_}' if id_ else ''}{classes}{f'[role={role}]' if role else ''}"
    return name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}…"


def _place(element: HtmlElement) -> str:
    above = [element]
    for ancestor in element.iterancestors():
        if len(above) == 3 or ancestor.tag in {"body", "html"}:
            break
        above.append(ancestor)
    return " > ".join(name_element(one) for one in reversed(above))
