"""EPUB files by writers that are not ours: EbookLib, Pandoc from Markdown, Sphinx from reStructuredText."""

import io
import shutil
import subprocess
import zipfile
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from ebooklib import epub

PANDOC = shutil.which("pandoc")
SPHINX = shutil.which("sphinx-build")


def ebooklib_epub(title: str, chapters: dict[str, str], *, meta: Mapping[str, str] | None = None) -> bytes:
    """A book of chapters by title, each given as the HTML of its body, written by EbookLib."""
    book = epub.EpubBook()
    book.set_identifier(f"id of {title}")
    book.set_title(title)
    book.set_language("en")
    for name, value in (meta or {}).items():
        book.add_metadata(None, "meta", value, {"property": name})
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


def sphinx_epub(project: str, files: Mapping[str, str]) -> bytes:
    """A book of a chapter for each file, `index` first, written by Sphinx; its style sheets are left out."""
    assert SPHINX is not None, "Sphinx is not installed; pip install sphinx"
    with TemporaryDirectory() as scratch:
        source, built = Path(scratch) / "source", Path(scratch) / "built"
        source.mkdir()
        (source / "conf.py").write_text(f"project = {project!r}\nlanguage = 'en'\nepub_basename = 'book'\n")
        for name, text in files.items():
            (source / f"{name}.rst").write_text(text, encoding="utf-8")
        subprocess.run([SPHINX, "-q", "-b", "epub", str(source), str(built)], check=True, timeout=120)
        return _without_styles((built / "book.epub").read_bytes())


def _without_styles(data: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(buffer, "w") as new:
        for member in old.infolist():
            if not member.filename.startswith("_static/"):
                new.writestr(member, old.read(member), member.compress_type)
    return buffer.getvalue()
