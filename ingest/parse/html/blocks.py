"""The content of a page > headings and blocks, by one walk over its elements."""

from collections.abc import Callable, Collection, Hashable

from lxml import etree
from lxml.html import HtmlElement

from ingest.parse.html.code import (
    LINE_NUMBERS,
    code_language,
    code_text,
    find_labels,
    has_line_numbers,
    is_numbering,
    listings_in,
)
from ingest.parse.html.dom import HEADING_LEVELS, Survey, anchor_of, classes_of, heading_level
from ingest.parse.html.family import (
    Shape,
    asks,
    is_chrome,
    is_question,
    is_question_label,
    member_in,
    member_name,
    question_of,
    since_when,
)
from ingest.parse.html.figures import figure_text
from ingest.parse.html.flow import Flow
from ingest.parse.html.formulas import math_text
from ingest.parse.html.inline import (
    inline_text,
    is_formula_twice,
    is_link,
    is_permalink,
    read_inline,
    split_heading,
)
from ingest.parse.html.landmarks import is_box, is_navigation_table
from ingest.parse.html.lists import find_tabs, item_numbers
from ingest.parse.html.notes import (
    TITLE_TAGS,
    NoteEnd,
    TitleOf,
    find_footnotes,
    note_label,
    place_notes,
    stated_kind,
    title_of,
    titled,
)
from ingest.parse.html.tables import is_layout, table_text
from ingest.parse.html.visibility import (
    BLOCK_TAGS,
    UNSEEN_TAGS,
    OnLeftOut,
    SkipReason,
    count_all_words,
    word_set,
)
from ingest.parse.outline import Block, BoxEnd, BoxStart, Heading, Part

MAX_HEADING = 240
"""Characters. Of 6,450 pages of manuals and the web eight have a longer one, each of them sentences."""

_LISTS = frozenset({"ul", "ol", "menu", "dir"})
_SECTION_WORDS = word_set(
    "section sect1 sect2 sect3 sect4 sect5 chapter appendix preface part refentry refsect1 refsect2 refsect3 "
    "article glossary bibliography index book reference detail"
)
_APART = word_set("navigation search contentinfo doc-toc menu dialog alertdialog")
_FIELDS = word_set("field-list notes details footnote citation docinfo section params tparams retval")
_TYPED = word_set("b strong code tt kbd")
_VARIABLE = word_set("i em var")
_NAMES = word_set("descclassname descname sig-prename sig-name")
_FRAMES = word_set("html body main form fieldset label button")
_ROOT_IDS = word_set(
    "root app __next ___gatsby __nuxt main content main-content furo-main-content page wrapper body header"
)


def read_blocks(
    content: HtmlElement,
    survey: Survey,
    shape: Shape,
    *,
    keep_chrome: bool = False,
    keep_hidden: bool = False,
    leave_out: Collection[HtmlElement] = (),
    on_left_out: OnLeftOut | None = None,
) -> list[Part]:
    """Return the parts of *content* in reading order, without chrome and what is hidden.

    Args: keep_chrome: keep tables of contents and the like, for a page that is nothing else;
    keep_hidden: keep what a script is to show, for a page that is hidden as a whole; leave_out:
    boilerplate; on_left_out: hears of each element that is left out.
    """
    return _Reader(content, survey, shape, keep_chrome, keep_hidden, leave_out, on_left_out).read()


class _Reader:
    def __init__(
        self,
        content: HtmlElement,
        survey: Survey,
        shape: Shape,
        keep_chrome: bool,
        keep_hidden: bool,
        leave_out: Collection[HtmlElement],
        on_left_out: OnLeftOut | None,
    ) -> None:
        self._leave_out = leave_out
        self._on_left_out = on_left_out
        self._content = content
        self._survey = survey
        self._owners = survey.owners
        self._shape = shape
        self._keep_chrome = keep_chrome
        self._keep_hidden = keep_hidden
        self._hidden = frozenset() if keep_hidden else survey.hidden
        self._tabs = find_tabs(content, survey.owners)
        self._labels = find_labels(content)
        self._has_numbers = not LINE_NUMBERS.isdisjoint(survey.classes)
        self._notes = find_footnotes(content, survey.owners)
        self._note_ends = {last for last, _ in self._notes.values()}
        self._flow = Flow()
        self._open_anchors: list[tuple[str, HtmlElement]] = []
        self._member_ends: list[HtmlElement] = []
        self._numbers: dict[HtmlElement, str] = {}
        self._boxes: set[HtmlElement] = set()
        self._figures: set[str] = set()
        self._level = self._depth = 0
        self._starts: dict[str, Callable[[HtmlElement], None]] = {
            "li": lambda item: self._flow.item_start(self._numbers.pop(item, "-")),
            "dt": self._start_term,
            "dd": lambda _: self._flow.definition_start(),
            "br": lambda _: self._flow.line_break(),
            **dict.fromkeys(_LISTS, self._start_list),
        }
        self._ends: dict[str, Callable[[HtmlElement], None]] = {
            "dt": lambda _: self._flow.term_end(),
            "dd": lambda _: self._flow.definition_end(),
            "dl": lambda _: self._flow.definitions_end(),
            **dict.fromkeys(_LISTS, lambda _: self._flow.list_end()),
        }

    def read(self) -> list[Part]:
        flow, content = self._flow, self._content
        whole: HtmlElement | None = None
        walk = etree.iterwalk(content, events=("start", "end"))
        for event, element in walk:
            if event == "start":
                if element in self._notes:
                    flow.note(self._notes[element][1])
                if self._is_left_out(element) or self._read_whole(element):
                    walk.skip_subtree()
                    whole = element
                    continue
                self._start(element)
                if element.text:
                    flow.text(element.text)
            else:
                if element is not whole:
                    self._end(element)
                if element in self._note_ends:
                    flow.note(NoteEnd())
                if element.tail and element is not content:
                    flow.text(element.tail)
        self._starts, self._ends = {}, {}  # they lead back to this reader, and would keep its page in memory
        return place_notes(flow.finish(), _links_in)

    def _is_left_out(self, element: HtmlElement) -> bool:
        why = self._why_left_out(element)
        if why is None:
            return False
        if self._on_left_out is not None:
            self._on_left_out(element, why)
        return True

    def _why_left_out(self, element: HtmlElement) -> SkipReason | None:
        tag = element.tag
        if tag in UNSEEN_TAGS:
            return SkipReason.UNREAD
        if element in self._labels.names:
            return SkipReason.REPEATED
        if element in self._leave_out:
            return SkipReason.UNVOTED
        if element is self._content or not (element.attrib or tag in {"nav", "aside", "footer"}):
            return None
        if element in self._hidden:
            return SkipReason.HIDDEN
        if tag in {"a", "span"} and is_permalink(element):
            return SkipReason.PERMALINK
        if self._has_numbers and has_line_numbers(element):
            return SkipReason.LINE_NUMBERS
        if element in self._tabs.lists or is_formula_twice(element):
            return SkipReason.REPEATED
        if is_navigation_table(element):
            return SkipReason.LANDMARK
        if self._keep_chrome:
            return None
        if tag in {"nav", "footer"} or self._stands_aside(element):
            return SkipReason.LANDMARK
        return SkipReason.CHROME if is_chrome(element, self._shape) else None

    def _stands_aside(self, element: HtmlElement) -> bool:
        if element.get("role") in _APART:
            return True
        return element.tag == "aside" and not is_box(element)

    def _start(self, element: HtmlElement) -> None:
        tag = element.tag
        if (member := member_in(element, self._shape)) is not None:
            self._start_member(element, member)
        elif is_question(element, self._shape):
            self._start_question(element)
        start = self._starts.get(tag)
        if start is not None:
            start(element)
        elif tag in BLOCK_TAGS:
            if element is not self._content and (is_box(element) or element in self._boxes):
                self._boxes.add(element)
                self._depth += 1
                self._flow.box(BoxStart(kind=stated_kind(element)))
                if label := note_label(element):
                    self._flow.title(label)
            else:
                self._flow.end_block()
                if over := self._tabs.labels.get(element):
                    self._note_anchor(element)  # its id leads to its label, and to a heading below that
                    self._flow.title(over)
        elif is_link(element):
            self._flow.link_start(element)
        if tag == "dl":
            words = classes_of(element)  # fields of an object and notes define nothing
            self._flow.definitions_start(of_entries=_FIELDS.isdisjoint(words))
        self._note_anchor(element)

    def _start_list(self, list_: HtmlElement) -> None:
        self._flow.list_start()
        if list_.tag == "ol":
            self._numbers.update(item_numbers(list_))

    def _start_member(self, element: HtmlElement, member: HtmlElement) -> None:
        """Begin an entry; a declaration that holds no more than itself goes on to the next one beside it."""
        around = element.getparent()
        self._end_before(around)
        self._flow.entry_start(name=member_name(member.get("id") or ""), anchor=self._own_id(member))
        self._member_ends.append(element if element is not member or around is None else around)

    def _start_question(self, element: HtmlElement) -> None:
        """Begin an entry that goes on to the next question beside it."""
        around = element.getparent()
        self._end_before(around)
        inside = filter(None, map(self._own_id, element.iter(etree.Element)))
        self._flow.entry_start(name=question_of(element), anchor=next(inside, None))
        self._member_ends.append(element if around is None else around)

    def _end_before(self, around: HtmlElement | None) -> None:
        if self._member_ends and self._member_ends[-1] is around:
            self._end_member()

    def _end_member(self) -> None:
        self._member_ends.pop()
        self._flow.entry_end()

    def _start_term(self, term: HtmlElement) -> None:
        inside = (self._own_id(node) for node in term.iter(etree.Element))
        self._flow.term_start(anchor=next(filter(None, inside), None), name=_declared(term))

    def _end(self, element: HtmlElement) -> None:
        tag = element.tag
        end = self._ends.get(tag)
        if end is not None:
            end(element)
        elif tag in BLOCK_TAGS:
            if element in self._boxes:
                self._depth -= 1
                self._flow.box(BoxEnd())
            else:
                self._flow.end_block()
        elif is_link(element):
            self._flow.link_end(element)
        if self._member_ends and self._member_ends[-1] is element:
            self._end_member()

    def _note_anchor(self, element: HtmlElement) -> None:
        name = self._own_id(element)
        if name is not None and _is_mark(element) and self._flow.opens_titled_section:
            self._flow.mark(name)
        elif name is not None:
            if not self._flow.waiting:
                self._open_anchors.clear()
            self._flow.anchor(name)
            self._open_anchors.append((name, element))

    def _own_id(self, element: HtmlElement) -> str | None:
        """The id a link can lead to: not a framework's root, and the first of equals."""
        if not element.attrib or element.tag in _FRAMES:
            return None
        name = anchor_of(element)
        if name is None or name in _ROOT_IDS or self._owners.get(name) is not element:
            return None
        return name

    def _read_whole(self, element: HtmlElement) -> bool:
        """Read what is not running text as one piece; False if it is running text."""
        tag = element.tag
        level = heading_level(element)
        title = title_of(element) if tag in TITLE_TAGS else None
        title = TitleOf.NEXT if element in self._labels.files else title
        if title is not None and (level is None or title is TitleOf.NOTE):
            self._read_title(element, title)
        elif level is not None and self._is_of_member(element, level):
            self._read_signature(element)
        elif level is not None:
            self._read_heading(element, level)
        elif tag == "pre":
            self._note_anchor(element)
            for listing in () if is_numbering(element) else listings_in(element):
                self._read_code(listing)
        elif is_question_label(element, self._shape):
            self._read_label(element)
        elif tag == "table" and not self._is_laid_out(element):
            self._read_table(element)
        elif tag == "math":
            self._flow.text(f" {math_text(element)} ")
        elif tag == "img":
            self._read_picture(element)
        else:
            return False
        return True

    def _read_picture(self, picture: HtmlElement) -> None:
        """Say once what it shows: a page that loads its pictures late has each of them twice."""
        self._note_anchor(picture)
        said = figure_text(picture)
        if said and said not in self._figures:
            self._figures.add(said)
            self._flow.text(f" {said} ")

    def _read_heading(self, element: HtmlElement, level: int) -> None:
        text, number = split_heading(element, numbered=self._shape.numbered)
        if not text:
            self._note_anchor(element)
            return
        if len(text) > MAX_HEADING:
            self._read_passage(element)
            return
        fragment = self._heading_anchor(element)
        inside = (self._own_id(node) for node in element.iter(etree.Element))
        names = dict.fromkeys((*self._flow.waiting, *(name for name in inside if name is not None)))
        aliases = tuple(name for name in names if name != fragment)
        links = tuple(link for link in element.iter("a") if is_link(link) and not is_permalink(link))
        heading = Heading(
            text=text, level=level, number=number, fragment=fragment, aliases=aliases, links=links
        )
        self._flow.heading(heading)
        self._level = self._level if self._depth else level
        self._open_anchors.clear()
        if level == 1:
            self._say_since(element)

    def _read_passage(self, element: HtmlElement) -> None:
        """Add what is only set as a heading as text: it can be cited, and stands over nothing."""
        self._note_anchor(element)
        read = read_inline(element, own_id=self._own_id)
        self._flow.verbatim(read.text, read.anchors, read.links)

    def _is_of_member(self, heading: HtmlElement, level: int) -> bool:
        """Whether a heading declares a member of a type, or stands in what is said about one."""
        signatures = self._shape.signatures
        if not signatures:
            return False
        return level > 4 or not signatures.isdisjoint(classes_of(heading))

    def _read_signature(self, heading: HtmlElement) -> None:
        """What declares a function is no title: it stands with the words on it, under its own id."""
        self._note_anchor(heading)
        signature = read_inline(heading)
        if signature.text:
            self._flow.title(signature.text, signature.links)
            self._say_since(heading)

    def _say_since(self, heading: HtmlElement) -> None:
        if self._shape.signatures and (since := since_when(heading, self._shape)):
            self._flow.title(since)

    def _heading_anchor(self, heading: HtmlElement) -> str | None:
        """Own id, else one inside, else by family the section around or the nearest before."""
        for element in heading.iter(etree.Element):
            name = self._own_id(element)
            if name is not None:
                return name
        waiting = self._open_anchors if self._flow.waiting else []
        if not waiting:
            return self._flow.marks.pop() if self._flow.marks else None
        above = set(heading.iterancestors())
        around = [(name, element) for name, element in waiting if element in above]
        if self._shape.section_anchor and around:
            sections = [name for name, element in around if _is_section(element)]
            return sections[-1] if sections else around[-1][0]
        return waiting[-1][0]

    def _read_code(self, listing: HtmlElement) -> None:
        if listing.tag == "code":
            self._note_anchor(listing)
        code = code_text(listing, own_id=self._own_id)
        if code.text.strip() and not self._flow.repeats_code(code.text):
            language = code_language(listing) or self._labels.languages.get(listing)
            self._flow.verbatim(code.text, code.anchors, code.links, solid=True, language=language)

    def _is_laid_out(self, table: HtmlElement) -> bool:
        is_laid_out = is_box(table) or asks(table, self._shape) or is_layout(table)
        if is_laid_out and self._level and self._has_sections(table):
            self._boxes.add(table)
        return is_laid_out

    def _has_sections(self, table: HtmlElement) -> bool:
        """Whether there are sections in a table, deeper than that around it, and not their headings alone."""
        headings = [(heading, heading_level(heading)) for heading in table.iter(*HEADING_LEVELS)]
        if not headings or any(level is None or level <= self._level for _, level in headings):
            return False
        words = sum(count_all_words(heading) for heading, _ in headings)
        return count_all_words(table) > words

    def _read_label(self, element: HtmlElement) -> None:
        self._flow.label(inline_text(element))
        for node in element.iter(etree.Element):
            self._note_anchor(node)

    def _read_table(self, element: HtmlElement) -> None:
        self._note_anchor(element)
        table = table_text(element, own_id=self._own_id, read_cell=self._read_cell)
        if table.caption:
            self._flow.caption(table.caption, table.caption_links)
        if table.text:
            self._flow.verbatim(table.text, table.anchors, table.links, header=table.header, keys=table.keys)

    def _read_cell(self, cell: HtmlElement) -> list[Part]:
        """Read a cell of a table as if it were all that there is."""
        return read_blocks(
            cell,
            self._survey,
            self._shape,
            keep_chrome=self._keep_chrome,
            keep_hidden=self._keep_hidden,
            on_left_out=self._on_left_out,
        )

    def _read_title(self, element: HtmlElement, of: TitleOf) -> None:
        self._note_anchor(element)
        title = read_inline(element)
        if not title.text:
            return
        match of:
            case TitleOf.NOTE:
                text = titled(element, title.text)
                before = len(text) - len(title.text)
                links = tuple((start + before, end + before, link) for start, end, link in title.links)
                self._flow.title(text, links)
            case TitleOf.NEXT:
                self._flow.caption(title.text, title.links)
            case TitleOf.LAST:
                self._flow.caption_of_last(title.text, title.links)
            case TitleOf.PICTURE:
                self._flow.caption_of_picture(title.text, title.links)


def _links_in(part: Heading | Block) -> Collection[Hashable]:
    return part.links if isinstance(part, Heading) else [link for _, _, link in part.links]


def _declared(term: HtmlElement) -> str:
    """The name that a term's markup sets apart from parameters; "" where it does not.

    Sphinx marks up the name of an object, pages of manuals what is typed and what stands for something.
    """
    named = (node for node in term.iter("span", "code", "tt") if not _NAMES.isdisjoint(classes_of(node)))
    if name := "".join(inline_text(node) for node in named):
        return name
    first = term[0] if len(term) and not (term.text or "").strip() else None
    typed = first is not None and first.tag in _TYPED and any(node.tag in _VARIABLE for node in term[1:])
    return inline_text(first) if first is not None and typed else ""


def _is_mark(element: HtmlElement) -> bool:
    """Whether an element is there for its id alone, as an index entry's target."""
    return len(element) == 0 and not element.text and element.tag in {"a", "span"}


def _is_section(element: HtmlElement) -> bool:
    return element.tag == "section" or not _SECTION_WORDS.isdisjoint(classes_of(element))
