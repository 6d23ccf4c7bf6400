"""DOCX files by two writers that are not ours: python-docx, and LibreOffice from OpenDocument."""

import io
import shutil
import subprocess
from collections.abc import Sequence
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory

import docx

from tests.fakes.plain_documents import Document, H, Item, L, N, P, T

SOFFICE = shutil.which("soffice")

_OPEN = (
    '<?xml version="1.0" encoding="UTF-8"?><office:document '
    'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
    'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" '
    'xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" '
    'xmlns:xlink="http://www.w3.org/1999/xlink" office:version="1.2" '
    'office:mimetype="application/vnd.oasis.opendocument.text"><office:body><office:text>'
)
_CLOSE = "</office:text></office:body></office:document>"


def python_docx(items: Document) -> bytes:
    """Write a document with python-docx, which knows no footnotes: their text stands in brackets."""
    made = docx.Document()
    for item in items:
        match item:
            case H(level, text):
                made.add_heading(text, level)
            case P(text):
                made.add_paragraph(text)
            case N(text, note):
                made.add_paragraph(f"{text} ({note})")
            case L(entries):
                for entry in entries:
                    made.add_paragraph(entry, style="List Bullet")
            case T(rows):
                table = made.add_table(rows=len(rows), cols=len(rows[0]))
                for cells, row in zip(rows, table.rows, strict=True):
                    for text, cell in zip(cells, row.cells, strict=True):
                        cell.text = text
    buffer = io.BytesIO()
    made.save(buffer)
    return buffer.getvalue()


def libreoffice_docx(documents: Sequence[Document], *, seconds: float = 300) -> list[bytes]:
    """Have LibreOffice write each document, all in one start, which takes seconds."""
    assert SOFFICE is not None, "LibreOffice is not installed; apt-get install libreoffice-writer-nogui"
    with TemporaryDirectory() as scratch:
        folder = Path(scratch)
        sources = [folder / f"{number:03}.fodt" for number in range(len(documents))]
        for source, items in zip(sources, documents, strict=True):
            source.write_text(f"{_OPEN}{''.join(map(_open_document, items))}{_CLOSE}", encoding="utf-8")
        profile = f"-env:UserInstallation=file://{folder / 'profile'}"
        command = [SOFFICE, "--headless", profile, "--convert-to", "docx", "--outdir", str(folder / "out")]
        subprocess.run([*command, *map(str, sources)], check=True, capture_output=True, timeout=seconds)
        return [(folder / "out" / f"{source.stem}.docx").read_bytes() for source in sources]


def _open_document(item: Item) -> str:
    match item:
        case H(level, text):
            return f'<text:h text:outline-level="{level}">{escape(text)}</text:h>'
        case P(text):
            return f"<text:p>{escape(text)}</text:p>"
        case N(text, note):
            return (
                f'<text:p>{escape(text)}<text:note text:note-class="footnote"><text:note-citation>1'
                f"</text:note-citation><text:note-body><text:p>{escape(note)}</text:p></text:note-body>"
                "</text:note></text:p>"
            )
        case L(entries):
            inside = "".join(
                f"<text:list-item><text:p>{escape(one)}</text:p></text:list-item>" for one in entries
            )
            return f"<text:list>{inside}</text:list>"
        case T(rows):
            lines = "".join(
                f"<table:table-row>{''.join(map(_cell, cells))}</table:table-row>" for cells in rows
            )
            column = f'<table:table-column table:number-columns-repeated="{len(rows[0])}"/>'
            return f'<table:table table:name="T">{column}{lines}</table:table>'


def _cell(text: str) -> str:
    return f"<table:table-cell><text:p>{escape(text)}</text:p></table:table-cell>"
