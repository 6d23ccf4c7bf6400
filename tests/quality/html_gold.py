"""Headings, ids and links of a page by a second parser: the standard library's, without a tree.

`html.parser` reads tags as they are written. What stands in an element whose class or id is chrome (a bar of
links, a table of contents, a permalink sign) counts neither as a heading nor as text before one.
"""

from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = frozenset(
    ["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"]
)
LEVELS = {f"h{level}": level for level in range(1, 7)}
UNREAD = frozenset({"script", "style", "template", "title", "nav"})
AROUND = frozenset(
    ["navheader", "navfooter", "related", "sphinxsidebar", "sphinxsidebarwrapper", "headerlink", "footer"]
)
"""Class names under which Sphinx, DocBook and AsciiDoc put what is around the content."""
FRAMES = frozenset(["root", "app", "main", "content", "page", "wrapper", "body", "header", "container"])
"""Ids of the frame of a page: they lead to no heading."""
TEXINFO_BARS = frozenset({"header", "nav-panel"})


@dataclass(slots=True)
class GoldHeading:
    """A heading as written; `anchors` are the ids and names between the last text before it and its end."""

    level: int
    text: str
    anchors: tuple[str, ...]


@dataclass(slots=True)
class GoldPage:
    """What the second parser saw: headings in order, every id and name of an `a`, every href of an `a`."""

    headings: list[GoldHeading] = field(default_factory=list)
    anchors: set[str] = field(default_factory=set)
    hrefs: list[str] = field(default_factory=list)


class _Reader(HTMLParser):
    def __init__(self, around: frozenset[str]) -> None:
        super().__init__(convert_charrefs=True)
        self.page = GoldPage()
        self._around = around
        self._skipped: list[str] = []
        self._heading: str | None = None
        self._text: list[str] = []
        self._since_text: list[str] = []
        self._number = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = {name: value or "" for name, value in attrs}
        anchors = [known[name] for name in ("id", *(["name"] if tag == "a" else [])) if known.get(name)]
        self.page.anchors.update(anchors)
        if tag == "a" and "href" in known:
            self.page.hrefs.append(known["href"])
        if self._skipped:
            self._skipped.extend([tag] if tag == self._skipped[0] else [])
            return
        names = {*known.get("class", "").split(), known.get("id", "")}
        if tag in UNREAD or (tag not in {"body", "html"} and not names.isdisjoint(self._around)):
            self._skipped.extend([] if tag in VOID else [tag])
            return
        self._since_text.extend(anchor for anchor in anchors if anchor not in FRAMES)
        if tag in LEVELS:
            self._heading, self._text, self._number = tag, [], 0

    def handle_endtag(self, tag: str) -> None:
        if self._skipped:
            if tag == self._skipped[0]:
                self._skipped.pop()
        elif tag == self._heading:
            text = " ".join("".join(self._text).split())
            if text:
                self.page.headings.append(GoldHeading(LEVELS[tag], text, tuple(self._since_text)))
                self._since_text = []
            self._heading = None

    def handle_data(self, data: str) -> None:
        if self._skipped or not data.strip():
            self._text.extend([data] if self._heading and not self._skipped else [])
        elif self._heading:
            self._text.append(data)
        else:
            self._since_text = []


def read_gold(data: bytes, *, around: frozenset[str] = AROUND, charset: str = "utf-8") -> GoldPage:
    """Read a page; *around* are classes and ids of what does not count."""
    reader = _Reader(around)
    reader.feed(data.decode(charset, "replace"))
    reader.close()
    return reader.page


def ids_of(data: bytes) -> set[str]:
    """Every id, and every name of an `a`, of a page."""
    return read_gold(data, around=frozenset()).anchors
