"""Pages without a text layer are read by what is handed in, and say how sure it was."""

from typing import Any

import pymupdf
import pytest

from ingest.parse.pdf import reading
from ingest.parse.pdf.document import parse_pdf
from ingest.parse.pdf.lines import Line
from ingest.parse.pdf.page import PageContent
from ingest.parse.pdf.reading import Recognise, has_text
from schemas.errors import ConfigError, ParseError
from schemas.fragment import GraphFragment
from schemas.nodes import BBox, PageSize, PdfRegion, RegionType
from tests.fakes.pdfs import Text, count_words, new_pdf, prose, request, set_block

HEAD = "level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\ttext"


def word(text: str, place: tuple[int, int, int, int], *, conf: float, line: int = 1, block: int = 1) -> str:
    """A row of Tesseract's TSV, in pixels."""
    left, top, width, height = place
    return f"5\t1\t{block}\t1\t{line}\t1\t{left}\t{top}\t{width}\t{height}\t{conf}\t{text}"


LAMPS = "\n".join(
    [
        HEAD,
        "2\t1\t1\t1\t0\t0\t300\t300\t900\t150\t-1\t",
        word("Lamps", (300, 300, 200, 50), conf=90),
        word("give", (520, 305, 100, 40), conf=80),
        word("light.", (300, 400, 150, 50), conf=40, line=2),
        word(" ", (0, 0, 5, 900), conf=95, block=2),
        word("Shade", (300, 1200, 150, 50), conf=60, block=3),
    ]
)


def scan(pages: int = 1) -> Any:
    """A PDF of pictures, as a scanner makes it: A4 pages."""
    document = pymupdf.open()
    for _ in range(pages):
        page = document.new_page(width=595, height=842)
        page.insert_image(page.rect, pixmap=pymupdf.Pixmap(pymupdf.csGRAY, (0, 0, 60, 84)))
    return document


def read(document: Any, recognise: Recognise, *, languages: tuple[str, ...] = ("eng",)) -> GraphFragment:
    asked = request(ocr=languages)
    return parse_pdf(document.tobytes(), asked, count_tokens=count_words, recognise=recognise)


def says(tsv: str) -> Recognise:
    return lambda png, languages: tsv


def text_regions(fragment: GraphFragment) -> list[PdfRegion]:
    nodes = (node for node in fragment.nodes if isinstance(node, PdfRegion))
    return [node for node in nodes if node.region_type is not RegionType.FIGURE]


def test_recognised_words_are_regions_and_chunks_at_their_place_in_points() -> None:
    fragment = read(scan(), says(LAMPS))

    (region,) = text_regions(fragment)
    assert region.text == "Lamps give light.\n\nShade"
    (chunk,) = fragment.chunks
    assert chunk.text == region.text
    assert fragment.warnings == ()
    # 300 pixels an inch, 72 points an inch.
    assert chunk.bbox is not None
    box = (chunk.bbox.x0, chunk.bbox.y0, chunk.bbox.x1, chunk.bbox.y1)
    assert box == pytest.approx((72, 72, 148.8, 300), abs=0.1)


def test_confidence_is_the_mean_of_the_words_from_0_to_1() -> None:
    fragment = read(scan(), says(LAMPS))

    assert [chunk.ocr_conf for chunk in fragment.chunks] == [(0.9 + 0.8 + 0.4 + 0.6) / 4]
    assert [region.ocr_conf for region in text_regions(fragment)] == [(0.9 + 0.8 + 0.4 + 0.6) / 4]


def test_text_that_the_file_has_carries_no_confidence_and_is_not_recognised_again() -> None:
    document = new_pdf([[Text(prose("lamp"))]])
    document[0].insert_image((72, 400, 300, 600), pixmap=pymupdf.Pixmap(pymupdf.csGRAY, (0, 0, 60, 84)))
    fragment = read(document, says(LAMPS))

    assert [chunk.ocr_conf for chunk in fragment.chunks] == [None]
    assert fragment.chunks[0].text.startswith("The lamp")


def test_an_empty_page_is_not_recognised() -> None:
    document = scan()
    document.new_page()
    asked: list[bytes] = []

    def recognise(png: bytes, languages: str) -> str:
        asked.append(png)
        return LAMPS

    assert {chunk.page_no for chunk in read(document, recognise).chunks} == {1}
    assert len(asked) == 1


def test_only_the_pages_without_text_are_recognised() -> None:
    document = scan(2)
    set_block(document.new_page(pno=1), Text(prose("lamp")), 100)
    fragment = read(document, says(LAMPS))

    assert [(chunk.page_no, chunk.ocr_conf is None) for chunk in fragment.chunks] == [
        (1, False),
        (2, True),
        (3, False),
    ]


def test_without_languages_nothing_is_recognised() -> None:
    fragment = read(scan(), says(LAMPS), languages=())

    assert fragment.chunks == ()
    assert fragment.warnings[0] == "image_only"
    assert "`ocr: true`" in fragment.warnings[1]


def test_languages_are_asked_for_together() -> None:
    asked: list[str] = []

    def recognise(png: bytes, languages: str) -> str:
        asked.append(languages)
        return LAMPS

    read(scan(), recognise, languages=("deu", "eng"))
    assert asked == ["deu+eng"]


@pytest.mark.parametrize("rotation", [90, 180, 270])
def test_a_sideways_scan_is_recognised_as_it_is_seen_and_its_boxes_are_those_of_the_page(
    rotation: int,
) -> None:
    document = scan()
    document[0].set_rotation(rotation)
    sizes: list[tuple[int, int]] = []

    def recognise(png: bytes, languages: str) -> str:
        seen = pymupdf.Pixmap(png)
        sizes.append((seen.width, seen.height))
        return "\n".join([HEAD, word("Lamps", (300, 600, 150, 75), conf=90)])

    (chunk,) = read(document, recognise).chunks
    long, short = round(842 * 300 / 72), round(595 * 300 / 72)
    assert sizes == [pytest.approx((short, long) if rotation == 180 else (long, short), abs=2)]
    assert chunk.bbox is not None
    # Seen at (72, 144, 108, 162) on the page as displayed; /Rotate turns clockwise.
    page = document[0]
    back = pymupdf.Rect(72, 144, 108, 162) * page.derotation_matrix
    box = (chunk.bbox.x0, chunk.bbox.y0, chunk.bbox.x1, chunk.bbox.y1)
    assert box == pytest.approx(tuple(back), abs=0.5)


def test_what_cannot_be_asked_at_all_is_said_once_and_the_document_stays() -> None:
    def recognise(png: bytes, languages: str) -> str:
        raise ConfigError("install Tesseract", subject="tesseract")

    document = scan(3)
    set_block(document.new_page(), Text(prose("lamp")), 100)
    fragment = read(document, recognise)

    assert fragment.warnings == ("page 1 has no text layer; install Tesseract",)
    assert {chunk.page_no for chunk in fragment.chunks} == {4}


def test_a_page_that_cannot_be_recognised_costs_only_itself() -> None:
    def recognise(png: bytes, languages: str) -> str:
        calls.append(1)
        if len(calls) == 1:
            raise ParseError("Tesseract took longer than 60 s", subject="tesseract")
        return LAMPS

    calls: list[int] = []
    fragment = read(scan(2), recognise)
    assert fragment.warnings == ("page 1 has no text layer; Tesseract took longer than 60 s",)
    assert {chunk.page_no for chunk in fragment.chunks} == {2}


def test_only_so_many_pages_are_recognised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading.PageReader.__init__, "__defaults__", (1, True))
    fragment = read(scan(3), says(LAMPS))

    assert {chunk.page_no for chunk in fragment.chunks} == {1}
    assert len(fragment.warnings) == 1
    assert fragment.warnings[0].startswith("page 2 has no text layer; not recognised after")


@pytest.mark.parametrize(
    ("text", "readable"),
    [("", False), ("\ufffd\ufffd\ufffd a", False), ("\ue012\ue013 \ue014", False), ("Lamps \ufffd", True)],
)
def test_a_layer_of_signs_without_meaning_is_none(text: str, readable: bool) -> None:
    line = Line(text=text, bbox=BBox(0, 0, 9, 9), size=10)
    page = PageContent(page_no=1, size=PageSize(100, 100), blocks=((line,),) if text else ())

    assert has_text(page) is readable
