"""Make the samples of tests/samples/formats that are no text: `python -m tests.samples.make_formats`.

They are kept in the repository, since LibreOffice and Pandoc, which wrote some, are not everywhere; of
LibreOffice, Writer, Impress and Calc are needed.
"""

import sys
from datetime import date
from pathlib import Path

import openpyxl

from tests.fakes.docx_files import libreoffice_docx, python_docx
from tests.fakes.office_files import fill, openpyxl_workbook, python_pptx, saved, through_libreoffice
from tests.fakes.pdfs import Text, heading, pdf_bytes
from tests.fakes.plain_documents import H, L, N, P, T

FOLDER = Path(__file__).parent / "formats"
SECRET = "SECRET-GOES-HERE"
"""Where the contract puts a secret into a sample."""

LIGHT = (
    H(1, "Keeping the light"),
    P("The lamp is trimmed before dusk and burns until the sun is a hand above the water."),
    H(2, "Trimming the wick"),
    P("Cut the wick straight; a crooked one smokes and blackens the lens."),
    L(("Let the lamp cool.", "Lift the chimney.", "Cut one finger's breadth.")),
    H(2, "Fuel by season"),
    T((("Season", "Oil", "Nights"), ("Summer", "rape", "short"), ("Winter", "paraffin", "long"))),
    H(1, "Signals"),
    P(f"The telegraph to the mainland opens with {SECRET} and a bell."),
)
BOATS = (
    H(1, "Boats of the island"),
    N("The supply boat lands on Thursdays", "Not in fog: then it waits at the outer buoy."),
    H(2, "Landing"),
    P("Two people hold the bow line, and nobody jumps before the keel has touched the sand."),
)


def _ledger_of_boats() -> openpyxl.Workbook:
    """Two tables side by side, with formulas and a gap between rows."""
    made = openpyxl.Workbook()
    made.active.title = "Boats"
    dated = [
        ((date(2024, 5, day), "yyyy-mm-dd"), day, f"=B{row}*2.5") for row, day in enumerate((2, 9, 16), 2)
    ]
    fill(made.active, 1, (("Landing", "Crates", "Fare"), *dated))
    fill(made.active, 6, ((("Sum"), "=SUM(B2:B4)", "=SUM(C2:C4)"),))
    fill(made.active, 1, (("Buoy", "Colour"), ("outer", "red"), ("inner", "green")), left=5)
    return made


def main() -> None:
    """Write every sample that a program makes."""
    (FOLDER / "pdf.1.pdf").write_bytes(
        pdf_bytes([[heading("Keeping the light"), Text("The lamp is trimmed before dusk.")]])
    )
    (FOLDER / "docx.1.docx").write_bytes(python_docx(LIGHT))
    (FOLDER / "docx.2.docx").write_bytes(libreoffice_docx([BOATS])[0])
    (FOLDER / "pptx.1.pptx").write_bytes(python_pptx(LIGHT))
    (FOLDER / "pptx.2.pptx").write_bytes(through_libreoffice(python_pptx(BOATS), "pptx"))
    (FOLDER / "xlsx.1.xlsx").write_bytes(openpyxl_workbook(SECRET))
    (FOLDER / "xlsx.2.xlsx").write_bytes(through_libreoffice(saved(_ledger_of_boats()), "xlsx"))


if __name__ == "__main__":
    sys.exit(main())
