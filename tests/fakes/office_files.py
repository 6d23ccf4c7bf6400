"""Presentations and workbooks by writers that are not ours: python-pptx, openpyxl, LibreOffice."""

import io
import shutil
import subprocess
import zipfile
from collections.abc import Callable
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import openpyxl
import pptx
from openpyxl.worksheet.worksheet import Worksheet
from pptx.util import Inches

from tests.fakes.plain_documents import Document, H, L, N, P, T

SOFFICE = shutil.which("soffice")
TITLE, CONTENT, PART, TITLE_ONLY = 0, 1, 2, 5
"""Layouts of the template that python-pptx brings."""


def saved(made: Any) -> bytes:
    """The bytes of a presentation or a workbook."""
    buffer = io.BytesIO()
    made.save(buffer)
    return buffer.getvalue()


def repacked(data: bytes, change: Callable[[str, bytes], bytes]) -> bytes:
    """The same archive with members changed."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(name, change(name, old.read(name)))
    return buffer.getvalue()


def python_pptx(items: Document) -> bytes:
    """Write a document with python-pptx: a slide for each heading, of level 1 a title or a part."""
    made = pptx.Presentation()
    slide: Any = None
    for item in items:
        match item:
            case H(level, text):
                over = PART if len(made.slides) else TITLE
                slide = made.slides.add_slide(made.slide_layouts[CONTENT if level > 1 else over])
                slide.shapes.title.text = text
            case P(text):
                _add(slide, text)
            case N(text, note):
                _add(slide, text)
                slide.notes_slide.notes_text_frame.text = note
            case L(entries):
                for entry in entries:
                    _add(slide, entry)
            case T(rows):
                _add_table(slide, rows)
    return saved(made)


def _add(slide: Any, text: str) -> None:
    frame = slide.placeholders[1].text_frame
    if frame.text:
        frame.add_paragraph().text = text
    else:
        frame.text = text


def _add_table(slide: Any, rows: tuple[tuple[str, ...], ...]) -> None:
    place = (Inches(1), Inches(4), Inches(8), Inches(2))
    table = slide.shapes.add_table(len(rows), len(rows[0]), *place).table
    for cells, row in zip(rows, table.rows, strict=True):
        for text, cell in zip(cells, row.cells, strict=True):
            cell.text = text


def fill(sheet: Worksheet, top: int, rows: tuple[tuple[Any, ...], ...], left: int = 1) -> None:
    """Put rows into cells, from a row and a column on; a pair is a value with its number format."""
    for row, cells in enumerate(rows, top):
        for column, value in enumerate(cells, left):
            cell = sheet.cell(row, column)
            cell.value, cell.number_format = (
                value if isinstance(value, tuple) else (value, cell.number_format)
            )


def openpyxl_workbook(secret: str) -> bytes:
    """Write a workbook with openpyxl: titled tables, formats, a merged header, what is hidden."""
    made = openpyxl.Workbook()
    light = made.active
    light.title = "Keeping the light"
    light["A1"] = "Trimming the wick"
    work = (
        ("Step", "What is done"),
        (1, "Let the lamp cool."),
        (2, "Cut the wick straight; a crooked one smokes."),
    )
    fill(light, 2, work)
    light["A7"] = "Fuel by season"
    light["B8"] = "Paid"
    light.merge_cells("B8:C8")
    fill(
        light,
        9,
        (
            ("Season", "Day", "Price", "Share"),
            ("Summer", (date(2024, 6, 21), "d mmm yyyy"), (1234.5, "[$£-809]#,##0.00"), (0.256, "0.0%")),
            ("Winter", (date(2024, 12, 21), "d mmm yyyy"), (2468, "[$£-809]#,##0.00"), (0.744, "0.0%")),
            ("Spring", (date(2024, 3, 21), "d mmm yyyy"), (99, "[$£-809]#,##0.00"), (0, "0.0%")),
        ),
    )
    light.row_dimensions[12].hidden = True
    made.defined_names["Winter"] = openpyxl.workbook.defined_name.DefinedName(
        "Winter", attr_text="'Keeping the light'!$A$11:$D$11"
    )
    signals = made.create_sheet("Signals")
    signals["A1"] = f"The telegraph to the mainland opens with {secret} and a bell."
    made.create_sheet("Workings").sheet_state = "hidden"
    made["Workings"]["A1"] = "not to be seen"
    return saved(made)


def through_libreoffice(
    data: bytes, ending: str, *, soffice: str | None = SOFFICE, seconds: float = 300
) -> bytes:
    """Have LibreOffice read a file and write it anew: formulas are calculated, and the writer is another."""
    assert soffice is not None, "install LibreOffice with Calc and Impress"
    with TemporaryDirectory() as scratch:
        folder = Path(scratch)
        (folder / f"a.{ending}").write_bytes(data)
        profile = f"-env:UserInstallation=file://{folder / 'profile'}"
        command = [soffice, "--headless", profile, "--convert-to", ending, "--outdir", str(folder / "out")]
        subprocess.run(
            [*command, str(folder / f"a.{ending}")], check=True, capture_output=True, timeout=seconds
        )
        return (folder / "out" / f"a.{ending}").read_bytes()
