import pytest

from ingest.parse.html.charset import decode_html
from tests.fakes.pages import parse_page


@pytest.mark.parametrize(
    ("data", "content_type", "text"),
    [
        ("é".encode(), None, "é"),
        ("é".encode("cp1252"), "text/html; charset=iso-8859-1", "é"),
        ("<meta charset=koi8-r>да".encode("koi8-r"), None, "<meta charset=koi8-r>да"),
        (b"\xef\xbb\xbf" + "é".encode(), "text/html; charset=latin-1", "é"),
        (b"\xef\xbb\xbf<meta charset=koi8-r>" + "é".encode(), None, "<meta charset=koi8-r>é"),
        ("<meta charset=koi8-r>é".encode(), "text/html; charset=utf-8", "<meta charset=koi8-r>é"),
        (
            "<meta charset=windows-1251>日本".encode("cp1251", "ignore") + b"\xe4\xe0",
            None,
            "<meta charset=windows-1251>да",
        ),
        ("é".encode(), "text/html; charset=no-such-thing", "é"),
        ("é".encode("utf-16"), None, "é"),
        (
            "Быстрая лампа светит всю ночь. Свет лампы виден из окна.".encode("cp1251"),
            "text/html; charset=utf-8",
            "Быстрая лампа светит всю ночь. Свет лампы виден из окна.",
        ),
        ("é\xe9\xe9 naïve".encode() + b"\xe9", "text/html; charset=utf-8", "ééé naïve\ufffd"),
        (b"a\0b", None, "ab"),
        (
            "日本語の文書です。これは例です。".encode("shift_jis") * 8,
            None,
            "日本語の文書です。これは例です。" * 8,
        ),
    ],
)
def test_bytes_are_decoded_by_mark_then_header_then_meta_then_guess(
    data: bytes, content_type: str | None, text: str
) -> None:
    assert decode_html(data, content_type) == text


def test_an_xhtml_page_with_an_xml_declaration_is_read() -> None:
    page = '<?xml version="1.0" encoding="iso-8859-1"?><html xmlns="http://www.w3.org/1999/xhtml"><body><h1>Grün</h1></body></html>'
    assert (
        parse_page(page.encode("latin-1"), content_type="application/xhtml+xml; charset=iso-8859-1").title
        == "Grün"
    )
