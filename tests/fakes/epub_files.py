"""EPUB files by writers that are not ours: EbookLib, and Pandoc from Markdown."""

import io
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from ebooklib import epub

PANDOC = shutil.which("pandoc")


def ebooklib_epub(title: str, chapters: dict[str, str]) -> bytes:
    """A book of chapters by title, each given as the HTML of its body, written by EbookLib."""
    book = epub.EpubBook()
    book.set_identifier(f"id of {title}")
    book.set_title(title)
    book.set_language("en")
    pages = []
    for number, (label, body) in enumerate(chapters.items(), start=1):
        page = epub.EpubHtml(title=label, file_name=f"text/ch{number}.xhtml", lang="en")
        page.content = body
        book.add_item(page)
        pages.append(page)
    book.toc = [epub.Link(page.file_name, page.title, f"ch{n}") for n, page in enumerate(pages)]
    book.add_item(epub.EpubNcx())
    book.add_item(epub.EpubNav())
    book.spine = ["nav", *pages]
    buffer = io.BytesIO()
    epub.write_epub(buffer, book)
    return buffer.getvalue()


def pandoc_epub(markdown: str) -> bytes:
    """A book of a chapter for each heading of the first level, written by Pandoc."""
    assert PANDOC is not None, "Pandoc is not installed; apt-get install pandoc"
    with TemporaryDirectory() as scratch:
        source, target = Path(scratch) / "book.md", Path(scratch) / "book.epub"
        source.write_text(markdown, encoding="utf-8")
        subprocess.run([PANDOC, "-o", str(target), str(source)], check=True, timeout=120)
        return target.read_bytes()
