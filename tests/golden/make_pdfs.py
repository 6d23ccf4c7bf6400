"""Make the PDFs among the golden documents, each with another producer, from words of our own.

    python tests/golden/make_pdfs.py FOLDER [NAME...]

Run by hand: a producer that is not installed (reportlab, fpdf2, weasyprint and cairocffi as packages,
chromium, libreoffice and pandoc as programs) is said and left out. The bytes that lie in documents/pdf are
what tests read; another version of a producer gives other bytes, and then another outline may be right.
"""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

CREW = (
    "Every watch has a mate and two hands. The mate writes the log, one hand steers and the other keeps a "
    "look-out. They change places each hour, so that nobody stares at the compass for longer than that."
)
BELLS = (
    "The bell is struck every half hour. One stroke is added each time, until eight strokes end the watch "
    "and the count begins again."
)
FOG = (
    "In fog the look-out stands at the bow and not on the bridge, since the engine is loud. He reports what "
    "he hears at once, and says from where it came even if he is not sure."
)
TIDES = ("stays closed for an hour before it.", "presses on it from both sides until the levels are equal.")
PAGE = f"""<!doctype html><html lang="en">
<head><meta charset="utf-8"><title>Standing watch</title></head><body>
<h1>Standing watch</h1><p>{CREW}</p>
<h2 id="bells">The bells</h2><p>{BELLS}</p>
<table border="1"><thead><tr><th>Time</th><th>Strokes</th><th>Who is woken</th></tr></thead><tbody>
<tr><td>00:30</td><td>1</td><td>nobody</td></tr><tr><td>03:30</td><td>7</td><td>the next watch</td></tr>
<tr><td>04:00</td><td>8</td><td>the cook</td></tr></tbody></table>
<h2 id="fog">In fog</h2><p>{FOG}</p>
<ul><li>Sound the horn every two minutes.</li>
<li>Slow down until you can stop in half the distance you see.</li></ul>
<h3>The horn</h3>
<p>A long blast says that the ship makes way; see <a href="#bells">The bells</a> for the time in between.</p>
<pre>horn --every 120 --length 5
horn --stop</pre></body></html>"""


def main() -> None:
    """Write the PDFs that are named, or all, into the folder."""
    folder, *names = sys.argv[1:]
    for name, make in MAKERS.items():
        if names and name not in names:
            continue
        try:
            make(Path(folder) / f"{name}.pdf")
        except (ImportError, FileNotFoundError) as error:
            print(f"{name}: left out, {error}", file=sys.stderr)


def pymupdf_handbook(path: Path) -> None:
    """Three pages with bookmarks, running lines, page labels, a link inside, a paragraph across pages."""
    import pymupdf

    document = pymupdf.open()
    for number in range(3):
        page = document.new_page(width=595, height=842)
        page.insert_text((72, 40), "Handbook of the watch", fontsize=8)
        page.insert_text((290, 815), str(number + 1), fontsize=8)
    first, second, third = document
    _head(first, "1 Standing watch", 100, size=20)
    _body(first, CREW, 130)
    _head(first, "1.1 The bells", 220)
    _body(first, f"{BELLS} Whoever strikes it looks at the clock of the chart room, not at his own, and", 245)
    _body(second, "strikes it even when nobody seems to listen, because somebody below always does.", 100)
    _head(second, "1.2 In fog", 160)
    _body(second, FOG, 185)
    _head(third, "2 Leaving the watch", 100, size=20)
    _body(third, "Nobody leaves before the next watch has said that it has taken over. See chapter 1.", 130)
    third.insert_link(
        {"kind": 1, "page": 0, "from": pymupdf.Rect(400, 118, 520, 134), "to": pymupdf.Point(72, 80)}
    )
    toc = [
        [1, "1 Standing watch", 1],
        [2, "1.1 The bells", 1],
        [2, "1.2 In fog", 2],
        [1, "2 Leaving the watch", 3],
    ]
    document.set_toc(toc)
    document.set_page_labels([{"startpage": 0, "prefix": "W-", "style": "D", "firstpagenum": 1}])
    document.set_metadata({"title": "Handbook of the watch"})
    document.save(path, deflate=True, garbage=4)


def pymupdf_rotated(path: Path) -> None:
    """A landscape page made by /Rotate, and one that a CropBox cuts down."""
    import pymupdf

    document = pymupdf.open()
    turned = document.new_page(width=595, height=842)
    turned.insert_text((120, 700), "Deck plan", fontsize=18, fontname="hebo", rotate=90)
    turned.insert_text(
        (160, 700), "The plan is printed sideways and turned on the screen.", fontsize=10, rotate=90
    )
    turned.set_rotation(90)
    cut = document.new_page(width=595, height=842)
    _head(cut, "Engine room", 200, size=18)
    _body(
        cut,
        "This page is cropped by a hundred points on each side, so boxes begin at the new corner.",
        230,
        150,
    )
    cut.set_cropbox(pymupdf.Rect(100, 100, 495, 742))
    document.save(path, deflate=True, garbage=4)


def _head(page: Any, text: str, y: float, *, size: float = 14) -> None:
    left = 150 if page.number == 1 and "Engine" in text else 72
    page.insert_text((left, y), text, fontsize=size, fontname="hebo")


def _body(page: Any, text: str, y: float, left: float = 72) -> None:
    page.insert_textbox((left, y - 12, 520 if left == 72 else 470, y + 90), text, fontsize=10)


def reportlab_price_list(path: Path) -> None:
    """A table over two pages whose header returns, between paragraphs."""
    from reportlab.lib import colors
    from reportlab.lib.pagesizes import A5
    from reportlab.lib.styles import getSampleStyleSheet
    from reportlab.platypus import Paragraph, SimpleDocTemplate, Spacer, Table

    styles = getSampleStyleSheet()
    rows = [["Berth", "Length", "Summer", "Winter"]]
    rows += [
        [f"{row}{number}", f"{5 + number} m", f"{40 + 7 * number}", f"{20 + 3 * number}"]
        for row in "ABC"
        for number in range(1, 9)
    ]
    table = Table(rows, repeatRows=1, colWidths=[60, 60, 60, 60])
    table.setStyle(
        [("GRID", (0, 0), (-1, -1), 0.5, colors.black), ("FONTNAME", (0, 0), (-1, 0), "Helvetica-Bold")]
    )
    SimpleDocTemplate(str(path), pagesize=A5, title="Berth prices", invariant=1).build(
        [
            Paragraph("Berth prices", styles["Title"]),
            Paragraph(
                "Prices are in euros a week. A berth is paid before the boat comes in.", styles["BodyText"]
            ),
            Spacer(1, 8),
            table,
            Spacer(1, 8),
            Paragraph("Members pay two thirds.", styles["BodyText"]),
        ]
    )


def reportlab_harbour_report(path: Path) -> None:
    """A report with bookmarks: tables without rulings, captions, units, a listing that is no table."""
    from reportlab.lib.pagesizes import A4
    from reportlab.pdfgen.canvas import Canvas

    canvas = Canvas(str(path), pagesize=A4, invariant=1)
    canvas.setTitle("Report of the harbour")
    _heading(canvas, "Traffic", 780)
    _lines(canvas, [CREW[:95], CREW[95:]], 755)
    _lines(canvas, ["Table 1 Ships by harbour and year", "(in thousands)"], 700)
    ships = [
        ("Harbour", "2019", "2020", "2021"),
        ("North", "1.2", "1.3", "0.9"),
        ("Middle", "12.5", "-", "9.1"),
    ]
    _cells(canvas, [*ships, ("South", "310.0", "298.4", "305.7")], 665, by_column=True)
    _lines(canvas, ["The year before last was quiet. Nobody knows whether it was the fog or the price."], 590)
    _lines(canvas, ["Table 2: Income of the harbour, EUR million"], 560)
    income = [
        ("", "Summer", "Winter"),
        ("Berths", "41.0", "12.5"),
        ("Cranes", "7.3", "7.1"),
        ("Pilots", "(2.0)", "1.1"),
    ]
    _cells(canvas, income, 535)
    canvas.showPage()
    _heading(canvas, "The log", 780)
    _lines(canvas, [BELLS], 755)
    canvas.setFont("Courier", 9)
    for number in range(6):
        canvas.drawString(
            72, 720 - 12 * number, f"0{number}:30   {number + 1}   {9 - number}   {12 * number + 1}   ok"
        )
    canvas.save()


def reportlab_tide_chart(path: Path) -> None:
    """A page whose chart and drawing are stored behind the text around them, and a number at its foot."""
    from reportlab.graphics import renderPDF
    from reportlab.graphics.charts.barcharts import VerticalBarChart
    from reportlab.graphics.shapes import Drawing, Rect, String
    from reportlab.lib.pagesizes import A5
    from reportlab.pdfgen.canvas import Canvas

    canvas = Canvas(str(path), pagesize=A5, invariant=1)
    canvas.setTitle("Tides")
    canvas.setFont("Helvetica-Bold", 16)
    canvas.drawString(72, 540, "High water")
    _lines(canvas, ["The water stands highest two days after the new moon, and the gate", TIDES[0]], 515)
    _lines(canvas, ["The gate is closed by two hands. It moves slowly, since the water", TIDES[1]], 330)
    canvas.drawRightString(348, 566, "Handbook of the sluice")
    chart = VerticalBarChart()
    chart.x, chart.y, chart.width, chart.height = 40, 30, 200, 90
    chart.data = [(3.1, 4.4, 5.2, 4.0)]
    chart.categoryAxis.categoryNames = ["May", "June", "July", "August"]
    drawn = Drawing(260, 140)
    drawn.add(chart)
    renderPDF.draw(drawn, canvas, 72, 350)
    scheme = Drawing(260, 90)
    for left, label in ((0, "Outer gate"), (150, "Inner gate")):
        scheme.add(Rect(left, 10, 100, 60, fillColor=None))
        scheme.add(String(left + 12, 36, label, fontName="Helvetica-Bold", fontSize=14))
    scheme.add(Rect(100, 38, 50, 4))
    renderPDF.draw(scheme, canvas, 72, 205)
    canvas.setFont("Helvetica", 10)
    canvas.drawString(72, 190, "Figure 1: The two gates of the sluice")
    canvas.drawCentredString(210, 24, "17")
    canvas.save()


def _heading(canvas: Any, text: str, y: float) -> None:
    canvas.bookmarkPage(text)
    canvas.addOutlineEntry(text, text)
    canvas.setFont("Helvetica-Bold", 16)
    canvas.drawString(72, y, text)


def _lines(canvas: Any, lines: list[str], y: float) -> None:
    canvas.setFont("Helvetica", 10)
    for number, line in enumerate(lines):
        canvas.drawString(72, y - 13 * number, line)


def _cells(canvas: Any, rows: list[tuple[str, ...]], y: float, *, by_column: bool = False) -> None:
    canvas.setFont("Helvetica", 10)
    places = [(row, column) for row in range(len(rows)) for column in range(len(rows[row]))]
    for row, column in sorted(places, key=lambda at: at[::-1] if by_column else at):
        draw = canvas.drawRightString if column else canvas.drawString
        draw(180 + 90 * column if column else 72, y - 14 * row, rows[row][column])


def fpdf_procedure(path: Path) -> None:
    """Sections with bookmarks, a numbered list, a listing in a fixed-width font."""
    from fpdf import FPDF

    document = FPDF(format="A5")
    document.set_title("Starting the pump")
    document.add_page()
    for level, text, body in (
        (
            0,
            "Starting the pump",
            "The bilge pump is started by hand. It must never run dry for longer than a minute.",
        ),
        (1, "Before", "1. Open the sea valve.\n2. Look into the strainer and clean it.\n3. Close the drain."),
        (1, "From the panel", "The panel takes two commands."),
    ):
        document.set_font("Times", "B", 18 - 4 * level)
        document.start_section(text, level)
        document.multi_cell(0, 9, text, new_x="LMARGIN", new_y="NEXT")
        document.set_font("Times", "", 11)
        document.multi_cell(0, 6, body, new_x="LMARGIN", new_y="NEXT")
    document.set_font("Courier", "", 10)
    document.multi_cell(0, 5, "pump start --rate 40\npump status", new_x="LMARGIN", new_y="NEXT")
    document.output(str(path))


def weasyprint_two_columns(path: Path) -> None:
    """An article in two columns under a title over both, with a figure and its caption."""
    from weasyprint import HTML

    style = (
        "@page {size: A4; margin: 2cm; @bottom-center {content: counter(page)}} body {font: 10pt sans-serif} "
        ".columns {columns: 2; column-gap: 1cm} h1 {text-align: center} figure {margin: 1em 0} "
        "figcaption {font-size: 8pt}"
    )
    picture = (
        '<svg width="180" height="80"><rect width="180" height="80" fill="#cde"/>'
        '<circle cx="90" cy="40" r="30" fill="#245"/></svg>'
    )
    body = (
        f"<h1>How a crew sleeps</h1><div class='columns'><h2>Watches</h2><p>{CREW}</p><p>{BELLS}</p>"
        f"<figure>{picture}<figcaption>Figure 1: The bell, seen from below.</figcaption></figure>"
        f"<h2>Noise</h2><p>{FOG}</p><p>Below deck one hears the horn as well, and sleeps all the same. "
        "After a week the ears tell what matters from what does not, and a change of the engine's note wakes "
        "everybody at once.</p>"
        f"<h2>Light</h2><p>Red light is kept on at night. {BELLS}</p></div>"
    )
    HTML(
        string=f"<html lang='en'><head><title>How a crew sleeps</title><style>{style}</style></head>"
        f"<body>{body}</body></html>"
    ).write_pdf(path)


def cairo_drawing(path: Path) -> None:
    """Text placed line by line and a drawing, without bookmarks or tags."""
    import cairocffi as cairo

    surface = cairo.PDFSurface(str(path), 400, 300)
    context = cairo.Context(surface)
    for y, size, text in (
        (50, 22, "Flags of the fleet"),
        (80, 10, "A flag is read from the mast outwards. It is lowered"),
        (93, 10, "at sunset and never touches the deck."),
        (250, 9, "Figure 1: The flag for a pilot on board."),
    ):
        context.select_font_face(
            "DejaVu Sans",
            cairo.FONT_SLANT_NORMAL,
            cairo.FONT_WEIGHT_BOLD if size > 20 else cairo.FONT_WEIGHT_NORMAL,
        )
        context.set_font_size(size)
        context.move_to(40, y)
        context.show_text(text)
    for left, colour in ((40, (1, 1, 1)), (110, (0.8, 0.1, 0.1))):
        context.rectangle(left, 130, 70, 100)
        context.set_source_rgb(*colour)
        context.fill_preserve()
        context.set_source_rgb(0, 0, 0)
        context.stroke()
    surface.finish()


def chromium_page(path: Path) -> None:
    """A page as a browser prints it: tagged, with links and an outline."""
    with TemporaryDirectory() as folder:
        page = Path(folder) / "page.html"
        page.write_text(PAGE, encoding="utf-8")
        _run(
            "chromium", "--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer",
            "--generate-pdf-document-outline",
            f"--user-data-dir={folder}/profile", f"--print-to-pdf={path.resolve()}", page.as_uri(),
        )  # fmt: skip


def libreoffice_text(path: Path) -> None:
    """A text document: headings, a table, a list, with bookmarks."""
    with TemporaryDirectory() as folder:
        (Path(folder) / "text.html").write_text(PAGE, encoding="utf-8")
        _run("pandoc", "--standalone", f"{folder}/text.html", "-o", f"{folder}/text.docx")
        _convert(
            Path(folder) / "text.docx",
            path,
            'pdf:writer_pdf_Export:{"ExportBookmarks":{"type":"boolean","value":"true"}}',
        )


def _convert(document: Path, path: Path, to: str) -> None:
    _run(
        "soffice",
        f"-env:UserInstallation={document.parent.as_uri()}/profile",
        "--headless",
        "--convert-to",
        to,
        "--outdir",
        str(document.parent),
        str(document),
    )
    path.write_bytes(document.with_suffix(".pdf").read_bytes())


def _run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True, timeout=180)


MAKERS: dict[str, Callable[[Path], None]] = {
    "pymupdf-handbook": pymupdf_handbook,
    "pymupdf-rotated": pymupdf_rotated,
    "reportlab-price-list": reportlab_price_list,
    "reportlab-harbour-report": reportlab_harbour_report,
    "reportlab-tide-chart": reportlab_tide_chart,
    "fpdf-procedure": fpdf_procedure,
    "weasyprint-two-columns": weasyprint_two_columns,
    "cairo-drawing": cairo_drawing,
    "chromium-page": chromium_page,
    "libreoffice-text": libreoffice_text,
}

if __name__ == "__main__":
    main()
