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


_TEXTS = [
    ("cp1251", "Маяк стоит на скале, и свет его виден далеко в море каждую ночь."),
    ("koi8-r", "Маяк стоит на скале, и свет его виден далеко в море каждую ночь."),
    ("cp1253", "Ο φάρος στέκει στον βράχο και το φως του φαίνεται κάθε νύχτα."),
    ("cp1250", "Latarnia morska świeci każdej nocy, żeby łodzie mogły wrócić do portu."),
    ("cp1252", "Der Leuchtturm steht über der Bucht, größer als alle Häuser für die Schiffe."),
    ("shift_jis", "灯台は岩の上に立ち、毎晩その光が海の遠くまで見えます。船はそれを目印にします。"),
    ("gb18030", "灯塔矗立在岩石上，每天晚上都能从海上远处看到它的光。"),
]


@pytest.mark.parametrize(("encoding", "text"), _TEXTS)
@pytest.mark.parametrize("before", [b"", b"<p>The lamp burns.</p>\n" * 2_000])
def test_an_encoding_that_nobody_states_is_found_wherever_its_letters_are(
    encoding: str, text: str, before: bytes
) -> None:
    assert decode_html(before + text.encode(encoding), None).endswith(text)


@pytest.mark.parametrize("stated", ["iso-8859-1", "utf-8", "utf-16", "windows-1252"])
@pytest.mark.parametrize(("encoding", "text"), [*_TEXTS[:3], ("utf-8", _TEXTS[0][1])])
def test_a_stated_encoding_that_gives_words_of_no_language_is_not_believed(
    stated: str, encoding: str, text: str
) -> None:
    meta = f"<meta charset={stated}>".encode()
    assert decode_html(meta + text.encode(encoding), None).endswith(text)
    assert decode_html(text.encode(encoding), f"text/html; charset={stated}") == text


@pytest.mark.parametrize("stated", [None, "text/html; charset=iso-8859-1"])
def test_a_bad_byte_does_not_make_utf8_another_encoding(stated: str | None) -> None:
    text = _TEXTS[0][1].encode()
    assert (
        decode_html(text + b"\xe9" + text[:-1], stated).replace("\ufffd", "")
        == _TEXTS[0][1] + _TEXTS[0][1][:-1]
    )
