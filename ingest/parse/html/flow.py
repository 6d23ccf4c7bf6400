"""Running text > blocks: white space as a browser shows it, list marks, anchors at their offsets."""

from collections.abc import Hashable
from dataclasses import dataclass, field, replace

from ingest.parse.html.notes import MarkedPart, NoteEnd, NoteStart
from ingest.parse.html.visibility import strip_invisible
from ingest.parse.outline import (
    BLOCK_JOINT,
    LINE_JOINT,
    Anchor,
    Block,
    BoxEnd,
    BoxStart,
    EntryEnd,
    EntryStart,
    Heading,
    LinkSpan,
)
from ingest.parse.wording import name_entry, without_figures


class Flow:
    """Gathers inline text and closes it into blocks.

    A *lead* is what comes before the next text: a list mark, or the term of a definition.
    An anchor waits until text follows, and then points at the beginning of that text; so does a link without
    words.
    """

    def __init__(self) -> None:
        self.parts: list[MarkedPart] = []
        self.waiting: list[str] = []
        self.marks: list[str] = []
        self._text: list[str] = []
        self._length = 0
        self._space = False
        self._anchors: list[Anchor] = []
        self._lead = ""
        self._joint = BLOCK_JOINT
        self._bound = False
        self._in_term = False
        self._undefined = False
        self._lists = 0
        self._definitions: list[_Definitions] = []
        self._caption: str | None = None
        self._open_links: list[Hashable] = []
        self._spans: dict[Hashable, tuple[int, int]] = {}
        self._worded: set[Hashable] = set()
        self._wordless: list[Hashable] = []

    @property
    def opens_titled_section(self) -> bool:
        """Whether nothing stands yet between here and a heading that has an id of its own."""
        last = self.parts[-1] if self.parts else None
        return isinstance(last, Heading) and last.fragment is not None and self._length <= len(self._lead)

    def repeats_code(self, text: str) -> bool:
        """Whether the code right before says the same, as that for dark screens does."""
        last = self.parts[-1] if self.parts else None
        return isinstance(last, Block) and last.solid and last.text == text and self._length == 0

    def text(self, text: str) -> None:
        """Add inline text; runs of white space show as one space."""
        words = strip_invisible(text).split()
        if not words:
            self._space = self._space or bool(text)
            return
        at_start = self._length <= len(self._lead) or self._text[-1] == "\n"
        if (self._space or text[0].isspace()) and not at_start:
            self._put(" ")
        self._open()
        start = self._length
        self._put(" ".join(words))
        self._give_words(start, self._length)
        self._space = text[-1].isspace()

    def line_break(self) -> None:
        """Begin a new line within the block."""
        if self._length > len(self._lead):
            self._put("\n")
            self._space = False

    def link_start(self, link: Hashable) -> None:
        """Begin a link: what is added before its end are its words."""
        self._open_links.append(link)

    def link_end(self, link: Hashable) -> None:
        """End a link; one without words, as around a picture, waits for the text that follows."""
        if link in self._open_links:
            self._open_links.remove(link)
            if link not in self._worded:
                self._wordless.append(link)

    def anchor(self, name: str) -> None:
        """Note an id; it belongs to the text that follows."""
        self.waiting.append(name)

    def mark(self, name: str) -> None:
        """Note an id that stands alone right behind a heading: a further one of it, or the next heading's."""
        self.marks.append(name)

    def end_block(self) -> None:
        """Close the block that is open; a lead without text stays for the next one."""
        if self._length > len(self._lead):
            self._emit("".join(self._text).rstrip(), tuple(self._anchors), self._links())
            self._lead = ""
            self._clear()
        self._space = False

    def verbatim(
        self,
        text: str,
        anchors: tuple[Anchor, ...] = (),
        links: tuple[LinkSpan, ...] = (),
        *,
        solid: bool = False,
        header: int = 0,
        keys: tuple[tuple[int, int], ...] = (),
        language: str | None = None,
        is_title: bool = False,
    ) -> None:
        """Add a finished block (code, table) as it is; it stands apart from what is around it."""
        self.end_block()
        self._joint = BLOCK_JOINT
        lead = self._lead
        self._lead = ""
        opened = tuple((0, name) for name in self.waiting)
        self.waiting.clear()
        shifted = tuple((offset + len(lead), name) for offset, name in anchors)
        header += len(lead) if header else 0
        kept = (*self._anchors, *opened, *shifted)
        self._give_words(len(lead), len(lead) + len(text))
        moved = tuple((start + len(lead), end + len(lead), link) for start, end, link in links)
        held = (*self._links(), *moved)
        over = tuple((start + len(lead), end + len(lead)) for start, end in keys)
        self._emit(
            lead + text,
            kept,
            held,
            solid=solid,
            header=header,
            keys=over,
            language=language,
            is_title=is_title,
        )
        self._joint = BLOCK_JOINT
        self._clear()

    def heading(self, heading: Heading) -> None:
        """Add a heading, with anchors that waited for text; the number of its step leads what is under it."""
        self.end_block()
        self._attach_marks()
        self._let_term_stand()
        number = self._lead.lstrip() if self._lead.endswith(". ") else ""
        self._drop_lead()
        self._set_lead(number)
        self.waiting.clear()
        self._joint, self._bound, self._caption = BLOCK_JOINT, False, None
        self._worded.update(self._open_links)
        around = tuple(self._open_links)
        self.parts.append(replace(heading, links=(*around, *heading.links)) if around else heading)

    def caption(self, text: str, links: tuple[LinkSpan, ...] = ()) -> None:
        """Add the caption of the block that follows; both stand together."""
        self.caption_of_picture(text, links)
        self._caption = text
        self._bound = True

    def caption_of_last(self, text: str, links: tuple[LinkSpan, ...] = ()) -> None:
        """Add the caption of the block before it; both stand together."""
        self.end_block()
        last = self.parts[-1] if self.parts else None
        if isinstance(last, Block):
            self.parts[-1] = replace(last, caption=text)
            self._bound = True
        self.caption_of_picture(text, links)

    def caption_of_picture(self, text: str, links: tuple[LinkSpan, ...] = ()) -> None:
        """Add a caption that says all that there is to read, but for what the picture before it shows."""
        self.end_block()
        last = self.parts[-1] if self.parts else None
        if isinstance(last, Block) and last.text and not without_figures(last.text).strip():
            self._bound = True
        self._caption = text
        self.verbatim(text, (), links)

    def title(self, text: str, links: tuple[LinkSpan, ...] = ()) -> None:
        """Add the title line of a note; what follows stands with it."""
        self.verbatim(text, (), links, is_title=True)
        self._bound = True

    def list_start(self) -> None:
        """Begin a list: its items are lines of one block."""
        self.end_block()
        self._let_term_stand(":")
        self._lists += 1

    def list_end(self) -> None:
        """End a list."""
        self.end_block()
        self._drop_lead()
        self._lists -= 1
        self._joint = self._next_joint()

    def item_start(self, mark: str = "-") -> None:
        """Begin a list item, which its mark leads."""
        self.end_block()
        self._drop_lead()
        self._set_lead("  " * max(0, self._lists - 1) + f"{mark} ")

    def label(self, text: str) -> None:
        """Begin a text with its number or letter."""
        self.end_block()
        self._drop_lead()
        self._set_lead(text + " " if text else "")

    def definitions_start(self, *, of_entries: bool) -> None:
        """Begin a list of definitions; *of_entries*: what is defined there can be looked up."""
        self.end_block()
        self._let_term_stand()
        self._definitions.append(_Definitions(of_entries))

    def definitions_end(self) -> None:
        """End a list of definitions; a term without a definition stands alone."""
        self.end_block()
        self._let_term_stand()
        self._joint = self._next_joint()
        if self._definitions:
            self._end_entry(self._definitions.pop())

    def term_start(self, *, anchor: str | None = None, name: str = "") -> None:
        """Begin a term; further terms of one definition join by a comma.

        Args: anchor: the id of the term; name: what its markup says that it names.
        """
        if self._in_term:  # libxml2 lets <dt> stand in an unclosed <dt>
            self.term_end()
        self.end_block()
        self._in_term = True
        if self._undefined and (anchor or self._definitions[-1].anchor):
            self._let_term_stand()  # two that can be cited, of which nothing is said
        if self._lead.endswith(": "):
            self._set_lead(self._lead[:-2] + ", ")
        else:
            self._drop_lead()
            self._joint = BLOCK_JOINT
            self._start_entry()
        if self._definitions:
            self._definitions[-1].state(anchor, name)

    def term_end(self) -> None:
        """End a term: it leads the definition."""
        self._in_term = self._undefined = False
        if self._length > len(self._lead):
            term = "".join(self._text)[len(self._lead) :].strip()
            self._lead = "".join(self._text).rstrip().removesuffix(":") + ": "
            self._text, self._length, self._space = [self._lead], len(self._lead), False
            self._name_entry(term)

    def definition_start(self) -> None:
        """Begin a definition: its first text stands behind the term."""
        self.end_block()

    def definition_end(self) -> None:
        """End a definition; where it is empty, the next one is that of its term, too."""
        self.end_block()
        self._undefined = bool(self._definitions) and self._lead.endswith(": ")
        if not self._undefined:
            self._let_term_stand()
            self._joint = self._next_joint()

    def _let_term_stand(self, sign: str = "") -> None:
        """Close a term behind which no text stands that it could lead."""
        self._undefined = False
        if self._lead.endswith(": "):
            term, anchors = self._lead[:-2] + sign, tuple(self._anchors)
            links = self._links()
            self._lead = ""
            self._clear()
            self._emit(term, anchors, links)
            self._joint = LINE_JOINT if sign else self._joint

    def _start_entry(self) -> None:
        if not self._definitions:
            return
        of = self._definitions[-1]
        self._end_entry(of)
        if of.of_entries:
            self._attach_marks()
            of.at = len(self.parts)
            self.parts.append(EntryStart())

    def _end_entry(self, of: "_Definitions") -> None:
        if of.at is not None:
            self.parts.append(EntryEnd())
        of.at, of.anchor, of.names = None, None, []

    def _name_entry(self, term: str) -> None:
        of = self._definitions[-1] if self._definitions else None
        if of is None or of.at is None:
            return
        is_label = term.endswith(":") and of.anchor is None  # of what it stands in, as "Returns:"
        if is_label and of.at == len(self.parts) - 1:
            self.parts.pop()
            of.at = None
            return
        of.names.append(of.stated or term)
        self.parts[of.at] = EntryStart(name=name_entry(of.names), anchor=of.anchor, lead=len(self._lead))

    def entry_start(self, *, name: str, anchor: str | None) -> None:
        """Begin an entry that is no definition of a list: it begins with the next text."""
        self.end_block()
        self._attach_marks()
        self.parts.append(EntryStart(name=name, anchor=anchor))

    def entry_end(self) -> None:
        """End the entry that began last."""
        self.end_block()
        self.parts.append(EntryEnd())

    def box(self, mark: BoxStart | BoxEnd) -> None:
        """Begin or end a box."""
        self.end_block()
        self._attach_marks()
        self._bound, self._caption = False, None
        self.parts.append(mark)

    def note(self, edge: NoteStart | NoteEnd) -> None:
        """Begin or end a footnote."""
        self.end_block()
        self._attach_marks()
        self.parts.append(edge)

    def finish(self) -> list[MarkedPart]:
        """Close all and give the parts in reading order."""
        self.end_block()
        self._attach_marks()
        self._drop_lead()
        if self.waiting or self._wordless:
            anchors = tuple((0, name) for name in self.waiting)
            links = tuple((0, 0, link) for link in self._wordless)
            self.parts.append(Block(text="", anchors=anchors, links=links))
        return self.parts

    def _attach_marks(self) -> None:
        last = self.parts[-1] if self.marks else None
        if isinstance(last, Heading):
            self.parts[-1] = replace(last, aliases=(*last.aliases, *self.marks))
        self.marks.clear()

    def _open(self) -> None:
        if self.waiting:
            self._anchors.extend((self._length, name) for name in self.waiting)
            self.waiting.clear()
        self._spans.update((link, (self._length, self._length)) for link in self._wordless)
        self._wordless.clear()

    def _give_words(self, start: int, end: int) -> None:
        for link in self._open_links:
            self._spans[link] = (self._spans.get(link, (start, end))[0], end)
        self._worded.update(self._open_links)

    def _links(self) -> tuple[LinkSpan, ...]:
        return tuple((start, end, link) for link, (start, end) in self._spans.items())

    def _put(self, text: str) -> None:
        self._text.append(text)
        self._length += len(text)

    def _set_lead(self, lead: str) -> None:
        self._lead = lead
        self._text, self._length = [lead], len(lead)

    def _drop_lead(self) -> None:
        self._lead = ""
        self.waiting[:0] = [name for _, name in self._anchors]
        self._clear()

    def _clear(self) -> None:
        self._text, self._length, self._anchors, self._space = [], 0, [], False
        self._spans = {}

    def _emit(
        self,
        text: str,
        anchors: tuple[Anchor, ...],
        links: tuple[LinkSpan, ...],
        *,
        solid: bool = False,
        header: int = 0,
        keys: tuple[tuple[int, int], ...] = (),
        language: str | None = None,
        is_title: bool = False,
    ) -> None:
        self._attach_marks()
        block = Block(
            text=text,
            joint=LINE_JOINT if self._bound else self._joint,
            anchors=anchors,
            links=links,
            caption=self._caption,
            solid=solid,
            header=header,
            keys=keys,
            language=language,
            is_title=is_title,
        )
        self.parts.append(block)
        self._bound, self._caption = False, None
        self._joint = self._next_joint()

    def _next_joint(self) -> str:
        return LINE_JOINT if self._lists else BLOCK_JOINT


@dataclass(slots=True)
class _Definitions:
    """A list of definitions; `at` is the part that opens its entry, which its terms give id and names."""

    of_entries: bool
    at: int | None = None
    anchor: str | None = None
    stated: str = ""
    names: list[str] = field(default_factory=list)

    def state(self, anchor: str | None, name: str) -> None:
        """Take up what the markup of the next term says of it; the first id opens the entry."""
        self.anchor, self.stated = self.anchor or anchor, name
