"""The manual as one PDF, laid out by MuPDF from the same Markdown pages as the site."""

import io
import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import pymupdf
from markdown.extensions.toc import slugify
from markdown_it import MarkdownIt
from markdown_it.token import Token

from docs.navigation import nav_paths, read_settings

DOCS = Path(__file__).resolve().parent

MARGIN = 56.0
"""Points from the edge of the paper to the text; the footer stands inside the lower one."""

KEEP_WITH_NEXT = 90.0
"""Points that must be left under a heading, or it moves to the next page with its text."""

ONE_LINE = 20.0
"""Points that any block needs: of a list that begins with less, MuPDF draws bullets at any place."""

STYLE = """
body { font-family: sans-serif; font-size: 10pt; line-height: 1.35; margin: 0; }
p, ul, ol, pre, table { margin-top: 0; margin-bottom: 7pt; }
h1, h2, h3 { margin-top: 9pt; margin-bottom: 5pt; }
h1 { font-size: 20pt; } h2 { font-size: 14pt; } h3 { font-size: 11.5pt; }
pre { font-family: monospace; font-size: 8.5pt; background-color: #f2f2f2; }
code { font-family: monospace; }
td, th { border: 1px solid #999999; padding: 3pt; font-size: 9pt; text-align: left; }
"""

_HEADING = re.compile(r"h([1-6])")


@dataclass(frozen=True, slots=True, kw_only=True)
class Chapter:
    """A page of the manual: its path under docs/, headings by anchor, top-level blocks as HTML."""

    path: str
    headings: dict[str, str]
    blocks: tuple[str, ...]

    @property
    def title(self) -> str:
        """The chapter's first heading."""
        return next(iter(self.headings.values()))


@dataclass(slots=True, kw_only=True)
class Layout:
    """Where writing has got to, and what is to be added once all pages exist."""

    writer: Any
    paper: Any
    device: Any = None
    page_no: int = 0
    y: float = 0.0
    outline: list[list[Any]] = field(default_factory=list)
    positions: list[Any] = field(default_factory=list)
    titles: list[str] = field(default_factory=list)

    def new_page(self, title: str) -> None:
        """Start a page that belongs to the chapter *title*."""
        self.close_page()
        self.device = self.writer.begin_page(self.paper)
        self.page_no += 1
        self.y = MARGIN
        self.titles.append(title)

    def close_page(self) -> None:
        """End the open page, if there is one."""
        if self.device is not None:
            self.writer.end_page()
            self.device = None


def build_pdf(output: Path, *, docs: Path = DOCS) -> Path:
    """Write the pages that mkdocs.yml lists, in its order, each as a chapter on a page of its own.

    The outline holds every heading with its page and height; links between pages stay links.
    """
    settings = read_settings(docs)
    chapters = [load_chapter(docs, path) for path in nav_paths(settings["nav"])]
    buffer = io.BytesIO()
    layout = Layout(writer=pymupdf.DocumentWriter(buffer), paper=pymupdf.paper_rect("a4"))
    for chapter in chapters:
        _lay_out(chapter, layout)
    layout.close_page()
    layout.writer.close()
    document = pymupdf.open("pdf", buffer.getvalue())
    _finish(document, layout, title=f"{settings['site_name']}: the manual")
    output.parent.mkdir(parents=True, exist_ok=True)
    # A new file id would make the bytes differ from build to build.
    document.save(output, garbage=4, deflate=True, no_new_id=True)
    return output


def load_chapter(docs: Path, path: str) -> Chapter:
    """Read a page and render each of its top-level blocks; ids and links become unique in the book."""
    markdown = MarkdownIt("commonmark").enable("table")
    tokens = markdown.parse((docs / path).read_text(encoding="utf-8"))
    headings = _name_headings(tokens, path)
    _point_links(tokens, path)
    blocks = tuple(markdown.renderer.render(block, markdown.options, {}) for block in _blocks(tokens))
    return Chapter(path=path, headings=headings, blocks=blocks)


def _blocks(tokens: list[Token]) -> Iterator[list[Token]]:
    block: list[Token] = []
    for token in tokens:
        block.append(token)
        if token.level == 0 and token.nesting <= 0:
            yield block
            block = []


def _name_headings(tokens: list[Token], path: str) -> dict[str, str]:
    """Set on every heading an id that is unique in the book, as the site names it; ids to plain texts."""
    headings: dict[str, str] = {}
    for opening, inline in pairwise(tokens):
        if opening.type == "heading_open":
            text = "".join(child.content for child in inline.children or [])
            anchor = _anchor(path, slugify(text, "-") if headings else "")
            if anchor in headings:
                raise ValueError(f"{path}: two headings {text!r}; links could not tell them apart")
            opening.attrSet("id", anchor)
            headings[anchor] = text
    return headings


def _point_links(tokens: list[Token], path: str) -> None:
    for token in (child for parent in tokens for child in parent.children or []):
        href = str(token.attrs.get("href", ""))
        target, _, slug = href.partition("#")
        if href.startswith("#") or target.endswith(".md"):
            page = posixpath.normpath(posixpath.join(posixpath.dirname(path), target)) if target else path
            token.attrSet("href", "#" + _anchor(page, slug))


def _anchor(path: str, slug: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", f"{path} {slug}".lower()).strip("-")


def _lay_out(chapter: Chapter, layout: Layout) -> None:
    layout.new_page(chapter.title)
    for block in chapter.blocks:
        needed = KEEP_WITH_NEXT if block.startswith("<h") else ONE_LINE
        if layout.paper.y1 - MARGIN - layout.y < needed:
            layout.new_page(chapter.title)
        _place(block, chapter, layout)


def _place(block: str, chapter: Chapter, layout: Layout) -> None:
    """Put one block on the page, and on following ones where it is too long.

    A table that does not fit starts a page: MuPDF breaks tables well only from the top of one, and
    elsewhere drops the rows below the page end while it says that all was placed.
    """
    story = pymupdf.Story(block, user_css=STYLE)
    is_table = "<table" in block
    while True:
        paper = layout.paper
        where = pymupdf.Rect(MARGIN, layout.y, paper.x1 - MARGIN, paper.y1 - MARGIN)
        more, filled = story.place(where)
        if is_table and filled[3] > where.y1 and layout.y > MARGIN:
            story.reset()
        else:
            _note_positions(story, where, chapter, layout)
            story.draw(layout.device)
            layout.y = filled[3] + 2
            if not more:
                return
        layout.new_page(chapter.title)


def _note_positions(story: Any, where: Any, chapter: Chapter, layout: Layout) -> None:
    def note(position: Any) -> None:
        # MuPDF also reports what stands below the page; it is reported again where it is placed.
        if position.rect[1] >= where.y1:
            return
        layout.positions.append(position)
        if position.heading and position.open_close & 1:
            # Not position.text: it loses the space where a long heading is wrapped.
            _note_heading(chapter.headings[position.id], position, layout)

    story.element_positions(note, {"page_num": layout.page_no})


def _note_heading(text: str, position: Any, layout: Layout) -> None:
    # An outline may go down by one level at a time only.
    deepest = layout.outline[-1][0] + 1 if layout.outline else 1
    where = {"kind": 1, "to": (MARGIN, position.rect[1]), "page": layout.page_no - 1, "zoom": 0}
    layout.outline.append([min(position.heading, deepest), text, layout.page_no, where])


def _finish(document: Any, layout: Layout, *, title: str) -> None:
    pymupdf.Story.add_pdf_links(document, layout.positions)
    document.set_toc(layout.outline)
    document.set_metadata({"title": title, "creator": "sitegraph docs/build.py"})
    for page, chapter in zip(document, layout.titles, strict=True):
        foot = layout.paper.y1 - MARGIN / 2
        page.insert_text((MARGIN, foot), chapter, fontsize=8, color=(0.4, 0.4, 0.4))
        page.insert_text((layout.paper.x1 - MARGIN - 20, foot), str(page.number + 1), fontsize=8)
    document.subset_fonts()
