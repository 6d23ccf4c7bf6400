"""Headings and blocks in reading order > sections with their text, anchors and captions."""

import re
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

_BEGINNING = 20
_MARK = re.compile(r"\[!\w{3,12}\]")


def title_length(text: str, kind: str, *, is_title: bool) -> int:
    """Return how many code points of the first text of a note say what it is; 0 where they do not.

    That is a whole title line, the word of the note's *kind* at the beginning (`Warning: ...`), or the mark
    that GitHub reads (`[!WARNING]`).
    """
    if is_title:
        return len(text)
    found = _MARK.match(text) or (_begins_with(kind).match(text) if kind else None)
    return found.end() if found else 0


def _begins_with(kind: str) -> re.Pattern[str]:
    return re.compile(rf".{{0,{_BEGINNING}}}?\b{re.escape(kind)}\b[:.]?", re.IGNORECASE)


BLOCK_JOINT = "\n\n"
LINE_JOINT = "\n"
STRUCK = "~~"
"""Stands before and behind what is struck out, as in Markdown."""


MAX_HEADING = 300
"""Characters of a title, heading or caption, which passages under it repeat; a longer one is text, too."""

MAX_FRAGMENT = 1_000
"""Characters of the id of a place; nothing opens one that is longer, and its passages would repeat it."""

_WORD = 24

MAX_DEPTH = 12
"""Headings in a path, those nearest to the text."""

Anchor = tuple[int, str]

LinkSpan = tuple[int, int, Hashable]
"""Start and end of a link's words, and the link; both are equal where a picture stands for them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading:
    """A heading without numbering and permalink marks; `fragment` is the id that opens it.

    `number` is what it was numbered with ("8.1").
    `aliases` are further ids in it or between it and the text before; `is_title`: it names the document.
    `links` are those in it.
    """

    text: str
    level: int
    number: str | None = None
    fragment: str | None = None
    aliases: tuple[str, ...] = ()
    is_title: bool = False
    links: tuple[Hashable, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A stretch of text. `joint` comes before it, unless it is the first of its section.

    `anchors` are (offset into `text`, id), and `links` lie in `text`; `caption` names the table, figure or
    code in this block. `solid` text (code) is cut only when it does not fit, and `language` is what it is
    written in; `header` is the length of a table's header rows, and `keys` are the rows in it that stand over
    those after them. `is_title`: it stands over what follows.
    """

    text: str
    joint: str = BLOCK_JOINT
    anchors: tuple[Anchor, ...] = ()
    caption: str | None = None
    solid: bool = False
    header: int = 0
    keys: tuple[tuple[int, int], ...] = ()
    language: str | None = None
    links: tuple[LinkSpan, ...] = ()
    is_title: bool = False


@dataclass(frozen=True, slots=True)
class BoxStart:
    """A note, quotation or fold-out begins: headings inside it end no section outside.

    `kind` is that of a note (`warning`), "" where nothing states it, None for what needs no name.
    """

    kind: str | None = None


@dataclass(frozen=True, slots=True)
class BoxEnd:
    """The box ends: what follows belongs to the section that the box stands in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryStart:
    """An entry of a definition list begins: what stands up to its `EntryEnd` is its terms and what they mean.

    `name` is what heading paths call it, "" for terms that are no name; `anchor` is the id of a term; the
    first `lead` code points of the block that follows are the terms.
    """

    name: str = ""
    anchor: str | None = None
    lead: int = 0


@dataclass(frozen=True, slots=True)
class EntryEnd:
    """The entry that began last, and has not ended, ends."""


@dataclass(frozen=True, slots=True)
class EntrySpan:
    """An entry of a definition list, from `start` to `end` of a section; `anchor` is the id that opens it."""

    start: int
    end: int
    name: str = ""
    anchor: str | None = None


@dataclass(frozen=True, slots=True)
class BoxSpan:
    """A note or fold-out that says what it is from `start` to `title_end` of a section, and ends at `end`."""

    start: int
    title_end: int
    end: int


@dataclass(frozen=True, slots=True)
class Stretch:
    """What is not running text, from `start` to `end` of a section: code, or a table with a header row.

    `header_end` is where a table's header ends; `start` for code. `language` is that of code. `keys` are rows
    of a table that stand over those after them.
    """

    start: int
    end: int
    header_end: int
    language: str | None = None
    keys: tuple[tuple[int, int], ...] = ()

    def moved(self, by: int) -> "Stretch":
        """The same stretch of a text that begins elsewhere."""
        keys = tuple((start + by, end + by) for start, end in self.keys)
        return Stretch(self.start + by, self.end + by, self.header_end + by, self.language, keys)


@dataclass(frozen=True, slots=True)
class PageStart:
    """A page of the document begins, a chapter: nothing after it belongs to a section before.

    `fragment` opens it, and what stands in it before any heading.
    """

    fragment: str | None = None


Part = Heading | Block | BoxStart | BoxEnd | EntryStart | EntryEnd | PageStart


@dataclass(frozen=True, slots=True, kw_only=True)
class OutlineSection:
    """A section before it has an id; `parent` is the index of the section above, None at the top.

    `nearest_fragment` is that of the section above where it has none of its own (a note, a minor heading).
    `anchors` are (offset, id) into `text`, in order; `captions` are (start, end, caption); `stretches` are
    in order and apart. `entries` are in order, and before those inside them. `aliases` are further ids that
    stand where the heading does. `links` are those in `text`, and `heading_links` those in the heading.
    `boxes` are notes that say what they are. A section that has a heading and nothing under it has the
    heading as text. `page` counts the `PageStart`s before it.
    """

    heading: str
    level: int
    heading_path: tuple[str, ...]
    parent: int | None
    fragment: str | None
    nearest_fragment: str | None
    text: str
    anchors: tuple[Anchor, ...]
    captions: tuple[tuple[int, int, str], ...]
    stretches: tuple[Stretch, ...] = ()
    entries: tuple[EntrySpan, ...] = ()
    boxes: tuple[BoxSpan, ...] = ()
    aliases: tuple[str, ...] = ()
    number: str | None = None
    links: tuple[LinkSpan, ...] = ()
    heading_links: tuple[Hashable, ...] = ()
    page: int = 0


@dataclass(slots=True)
class _OpenEntry:
    """An entry while it is read: it begins with the first text behind its mark."""

    draft: "_Draft"
    mark: EntryStart
    start: int | None = None
    end: int | None = None
    anchor: str | None = None


@dataclass(slots=True)
class _OpenBox:
    """A box while it is read; the first text in it, in the section of *draft*, may say what it is."""

    kind: str | None
    draft: "_Draft | None" = None
    start: int = 0
    title_end: int = 0
    end: int | None = None


@dataclass(slots=True)
class _Draft:
    heading: str
    level: int
    path: tuple[str, ...]
    parent: int | None
    fragment: str | None
    nearest_fragment: str | None = None
    pieces: list[str] = field(default_factory=list)
    length: int = 0
    anchors: list[Anchor] = field(default_factory=list)
    captions: list[tuple[int, int, str]] = field(default_factory=list)
    stretches: list[Stretch] = field(default_factory=list)
    entries: list[_OpenEntry] = field(default_factory=list)
    waiting: list[_OpenEntry] = field(default_factory=list)
    boxes: list[_OpenBox] = field(default_factory=list)
    aliases: tuple[str, ...] = ()
    number: str | None = None
    is_title: bool = False
    links: list[LinkSpan] = field(default_factory=list)
    heading_links: tuple[Hashable, ...] = ()
    page: int = 0

    def add(self, block: Block) -> None:
        caption = block.caption
        if caption is not None and len(caption) > MAX_HEADING and caption not in block.text:
            self.add(Block(text=caption, joint=block.joint))
        if self.length and block.text:
            self.pieces.append(block.joint)
            self.length += len(block.joint)
        start = self.length
        self.pieces.append(block.text)
        self.length += len(block.text)
        self.anchors.extend((start + offset, anchor) for offset, anchor in block.anchors if _opens(anchor))
        self.links.extend((start + first, start + end, link) for first, end, link in block.links)
        if caption is not None:
            self.captions.append((start, self.length, cut_heading(caption)))
        if block.text:
            self._begin_entries(block, start)
        if block.solid or block.header:
            own = Stretch(0, len(block.text), block.header, block.language, block.keys)
            self.stretches.append(own.moved(start))

    def _begin_entries(self, block: Block, start: int) -> None:
        """Let the entries begin whose marks stand right before a text; those that have ended are empty."""
        for entry in self.waiting:
            if entry.end is None:
                entry.start = start
                anchor = entry.mark.anchor or _id_at_term(block, entry.mark.lead)
                entry.anchor = anchor if _opens(anchor) else None
        self.waiting.clear()

    def begin_boxes(self, boxes: Iterable[_OpenBox], block: Block) -> None:
        """Let the boxes begin with the text that was added last; it may say what the innermost is."""
        innermost: _OpenBox | None = None
        for innermost in boxes:
            innermost.draft = self
        if innermost is not None and innermost.kind is not None:
            innermost.start = self.length - len(block.text)
            length = title_length(block.text, innermost.kind, is_title=block.is_title)
            innermost.title_end = innermost.start + length
            self.boxes.append(innermost)

    def closed(self) -> OutlineSection:
        return OutlineSection(
            heading=self.heading,
            level=self.level,
            heading_path=self.path,
            parent=self.parent,
            fragment=self.fragment,
            nearest_fragment=self.nearest_fragment,
            text="".join(self.pieces) or self.heading,
            anchors=tuple(self.anchors),
            captions=tuple(self.captions),
            stretches=tuple(self.stretches),
            entries=tuple(self._entries()),
            boxes=tuple(self._boxes()),
            aliases=self.aliases,
            number=self.number,
            links=tuple(self.links),
            heading_links=self.heading_links,
            page=self.page,
        )

    def _entries(self) -> Iterator[EntrySpan]:
        for one in self.entries:
            end = self.length if one.end is None else one.end
            if one.start is not None and one.start < end:
                yield EntrySpan(one.start, end, one.mark.name, one.anchor)

    def _boxes(self) -> Iterator[BoxSpan]:
        for one in self.boxes:
            if one.start < one.title_end:
                yield BoxSpan(one.start, one.title_end, self.length if one.end is None else one.end)


def _id_at_term(block: Block, lead: int) -> str | None:
    """The id of an entry whose terms have none: the nearest before them, else the first right behind."""
    before = [name for at, name in block.anchors if at == 0]
    behind = [name for at, name in block.anchors if 0 < at <= lead]
    return next(iter((*before[-1:], *behind)), None)


def build_outline(parts: Iterable[Part]) -> tuple[OutlineSection, ...]:
    """Return one section per heading, in order, and one of level 0 for text before any heading.

    A heading ends every open section of its level or deeper, but none outside the box it stands in.
    Skipped levels stay skipped. A title has a section of its own, and is above no other.
    """
    drafts: list[_Draft] = []
    open_: list[int] = []
    floors: list[int] = []
    boxes: list[_OpenBox] = []
    entries: list[_OpenEntry] = []
    page, start = 0, PageStart()
    for part in parts:
        match part:
            case Heading():
                _open(drafts, open_, part, floors[-1] if floors else 0)
                drafts[-1].page = page
                for box in boxes:
                    box.draft = box.draft or drafts[-1]
            case Block():
                draft = _current(drafts, open_, page, start)
                draft.add(part)
                if part.text:
                    draft.begin_boxes([box for box in boxes if box.draft is None], part)
            case PageStart():
                page, start = page + 1, part
                open_.clear()
            case BoxStart():
                floors.append(len(open_))
                boxes.append(_OpenBox(part.kind))
            case BoxEnd():
                del open_[floors.pop() :]
                box = boxes.pop()
                box.end = box.draft.length if box.draft is not None else 0
            case EntryStart():
                entry = _OpenEntry(_current(drafts, open_, page, start), part)
                entry.draft.entries.append(entry)
                entry.draft.waiting.append(entry)
                entries.append(entry)
            case EntryEnd() if entries:
                entry = entries.pop()
                entry.end = entry.draft.length
    return tuple(draft.closed() for draft in _renumbered(drafts))


def _opens(fragment: str | None) -> bool:
    return fragment is not None and len(fragment) <= MAX_FRAGMENT


def cut_heading(text: str) -> str:
    """Return what a heading is called where it is repeated: itself, or its beginning up to a word's end."""
    if len(text) <= MAX_HEADING:
        return text
    start, space, _ = text[:MAX_HEADING].rpartition(" ")
    if not space:  # words without spaces, or what may be a secret, of which no part is to be seen
        start = text[:_WORD] if text[:MAX_HEADING].isascii() else text[: MAX_HEADING - 1]
    return f"{start.rstrip()}…"


def first_heading(outline: Iterable[OutlineSection]) -> str:
    """Return the first heading of a document, "" where it has none."""
    return next((section.heading for section in outline if section.heading), "")


def links_in(outline: Iterable[OutlineSection]) -> Iterator[Hashable]:
    """Yield every link that stands in the text or in a heading of the sections."""
    for section in outline:
        yield from section.heading_links
        yield from (link for _, _, link in section.links)


def with_links(
    outline: tuple[OutlineSection, ...], known: Mapping[Hashable, Hashable]
) -> tuple[OutlineSection, ...]:
    """Put what each link is *known* as in its place, once; those that are not known are none.

    A link around several blocks stands where the first of them does.
    """
    seen: set[Hashable] = set()

    def is_first(link: Hashable) -> bool:
        new = link in known and link not in seen
        seen.add(link)
        return new

    return tuple(
        replace(
            section,
            heading_links=tuple(known[link] for link in section.heading_links if is_first(link)),
            links=tuple((start, end, known[link]) for start, end, link in section.links if is_first(link)),
        )
        for section in outline
    )


def _open(drafts: list[_Draft], open_: list[int], heading: Heading, floor: int) -> None:
    while len(open_) > floor and drafts[open_[-1]].level >= heading.level:
        open_.pop()
    around = drafts[open_[-1]] if open_ else _Draft("", 0, (), None, None)
    parent = open_[-1] if open_ and not around.is_title else None
    name = cut_heading(heading.text)
    path = (*(() if around.is_title else around.path), name)[-MAX_DEPTH:]
    fragment = heading.fragment if _opens(heading.fragment) else None
    draft = _Draft(name, heading.level, path, parent, fragment, fragment or around.nearest_fragment)
    if name != heading.text:
        draft.add(Block(text=heading.text))
    draft.aliases = tuple(filter(_opens, heading.aliases))
    draft.is_title, draft.number = heading.is_title, heading.number
    draft.heading_links = heading.links
    drafts.append(draft)
    open_.append(len(drafts) - 1)


def _current(drafts: list[_Draft], open_: list[int], page: int, start: PageStart) -> _Draft:
    if open_:
        return drafts[open_[-1]]
    for draft in drafts:
        if not draft.path and draft.page == page:
            return draft
    drafts.append(_Draft("", 0, (), None, None, start.fragment, page=page))
    return drafts[-1]


def _renumbered(drafts: list[_Draft]) -> list[_Draft]:
    """Drop a headless section without text; parents are indexes, so they move with it."""
    kept = [index for index, draft in enumerate(drafts) if draft.path or draft.length]
    place = {index: new for new, index in enumerate(kept)}
    for index in kept:
        parent = drafts[index].parent
        drafts[index].parent = None if parent is None else place[parent]
    return [drafts[index] for index in kept]
