"""What cannot be opened as a PDF, and what only looks so."""

import pymupdf
import pytest

from schemas.errors import ParseError
from tests.fakes.pdfs import Text, new_pdf, parse, prose


def test_a_page_that_cannot_be_read_costs_only_itself() -> None:
    document = new_pdf([[Text(prose(topic))] for topic in ("lamp", "plug", "bulb")])
    document.update_object(document.page_xref(1), "<< /Type /Page /MediaBox 7 /Parent null >>")
    fragment = parse(document.tobytes())

    assert {chunk.page_no for chunk in fragment.chunks} == {1, 3}


def test_a_locked_document_needs_a_password() -> None:
    locked = new_pdf([[Text(prose("lamp"))]]).tobytes(
        encryption=pymupdf.PDF_ENCRYPT_AES_256, user_pw="user", owner_pw="owner"
    )

    with pytest.raises(ParseError, match="needs_password"):
        parse(locked)


def test_an_owner_password_alone_does_not_keep_readers_out() -> None:
    guarded = new_pdf([[Text(prose("lamp"))]]).tobytes(
        encryption=pymupdf.PDF_ENCRYPT_AES_256, owner_pw="owner"
    )

    assert len(parse(guarded).chunks) == 1


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"<html><body>no PDF</body></html>", id="a web page"),
        pytest.param(b"%PDF-1.7\nnothing of the kind", id="header only"),
        pytest.param(b"<html>%PDF-1.7</html>", id="a web page that names PDF"),
    ],
)
def test_what_is_no_pdf_is_a_parse_error_with_its_subject(data: bytes) -> None:
    with pytest.raises(ParseError) as caught:
        parse(data)

    assert caught.value.subject == "https://docs.example/manual.pdf"
