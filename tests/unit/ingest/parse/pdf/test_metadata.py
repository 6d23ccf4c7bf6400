"""Date and language of PDFs, as one program wrote them and another left them."""

from io import BytesIO

import pytest
from pypdf import PdfReader, PdfWriter
from pypdf.generic import NameObject, StreamObject, TextStringObject

from schemas.nodes import Dated, DateOrigin, PdfDoc
from tests.fakes.pdfs import Text, parse, pdf_bytes

PLAIN = pdf_bytes([[Text("Pallets stay for a week.")]])
ENGLISH = (
    "The caretaker of the depot counts the pallets each evening, writes their number into the book that lies "
    "beside the north gate, and locks the doors before he walks home. Whoever takes one away signs for it, "
    "and brings it back within a week, or the depot asks him for the price of a new one."
)
GERMAN = (
    "Der Hausmeister zählt jeden Abend die Paletten, schreibt ihre Zahl in das Buch, das am Tor liegt, "
    "und schließt die Türen ab, bevor er nach Hause geht. Wer eine Palette mitnimmt, unterschreibt dafür, "
    "und bringt sie binnen einer Woche zurück, sonst verlangt das Lager von ihm den Preis einer neuen."
)


def rewritten(*, xmp: str = "", lang: str = "", text: str = "", **info: str) -> bytes:
    """The file as pypdf writes it, with these entries of Info, this XMP and this language."""
    data = pdf_bytes([[Text(text)]]) if text else PLAIN
    writer = PdfWriter(clone_from=PdfReader(BytesIO(data)))
    writer.metadata = {f"/{name}": value for name, value in info.items()}
    if xmp:
        stream = StreamObject()
        stream.set_data(xmp.encode())
        stream.update(
            {NameObject("/Type"): NameObject("/Metadata"), NameObject("/Subtype"): NameObject("/XML")}
        )
        writer.root_object[NameObject("/Metadata")] = writer._add_object(stream)
    if lang:
        writer.root_object[NameObject("/Lang")] = TextStringObject(lang)
    out = BytesIO()
    writer.write(out)
    return out.getvalue()


@pytest.mark.parametrize(
    ("info", "xmp", "at"),
    [
        ({"ModDate": "D:20240503102030+02'00'"}, "", "2024-05-03T08:20:30+00:00"),
        ({"CreationDate": "D:20230101000000Z", "ModDate": "D:20240503"}, "", "2024-05-03T00:00:00+00:00"),
        ({"CreationDate": "D:20240503"}, "", "2024-05-03T00:00:00+00:00"),
        ({}, "<xmp:ModifyDate>2024-05-03T10:20:30+02:00</xmp:ModifyDate>", "2024-05-03T08:20:30+00:00"),
        ({}, '<rdf:Description xmp:ModifyDate="2024-05-03"/>', "2024-05-03T00:00:00+00:00"),
        ({"ModDate": "D:2023"}, "<xap:ModifyDate>2024-05-03</xap:ModifyDate>", "2024-05-03T00:00:00+00:00"),
        ({"ModDate": "D:2025"}, "<xmp:ModifyDate>2024-05-03</xmp:ModifyDate>", "2025-01-01T00:00:00+00:00"),
        ({"ModDate": "soon", "CreationDate": "D:20240503"}, "", "2024-05-03T00:00:00+00:00"),
        ({"ModDate": "D:19700101"}, "<xmp:ModifyDate>x</xmp:ModifyDate>", None),
        ({}, "", None),
    ],
)
def test_a_pdf_is_dated_by_what_was_changed_last(info: dict[str, str], xmp: str, at: str | None) -> None:
    fragment = parse(rewritten(xmp=xmp, **info))
    assert fragment.modified == (Dated(at=at, origin=DateOrigin.PDF) if at else None)


@pytest.mark.parametrize(
    ("lang", "xmp", "text", "found"),
    [
        ("de-CH", "", GERMAN, "de"),
        ("", "<dc:language><rdf:Bag><rdf:li>de</rdf:li></rdf:Bag></dc:language>", "", "de"),
        ("", "", GERMAN, "de"),
        ("", "", ENGLISH, "en"),
        ("en-US", "", GERMAN, "de"),  # what the program had preset
        ("en-US", "", "Kurz und gut.", "en"),
        ("x-unknown", "", "", None),
        ("", "", "Pallets 17, 4 and 12.", None),
    ],
)
def test_the_language_of_a_pdf_is_stated_unless_its_text_is_surely_in_another(
    lang: str, xmp: str, text: str, found: str | None
) -> None:
    fragment = parse(rewritten(lang=lang, xmp=xmp, text=text))
    document = next(node for node in fragment.nodes if isinstance(node, PdfDoc))
    assert document.lang == found
    assert {chunk.lang for chunk in fragment.chunks} <= {found}
