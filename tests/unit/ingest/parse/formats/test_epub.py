"""EPUB: chapters in the order of the spine, places as EPUB CFIs, and how bad files end."""

import io
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from lxml import etree

from ingest.parse.document import parse_document
from schemas.errors import ParseError
from schemas.fragment import GraphFragment, ParseRequest
from tests.fakes.epub_files import ebooklib_epub
from tests.fakes.pages import count_words, links_of, sections_of

SAMPLES = Path(__file__).parents[4] / "samples" / "formats"
BOOK = {
    "Lamps": '<h2>Lamps</h2><p>See <a href="ch2.xhtml#rape">rape</a>.</p><h3 id="wick">Wick</h3>'
    "<p>Cut it.</p>",
    "Oil": '<p>First words.</p><h1>Prices</h1><p id="rape">Rape is '
    '<a href="https://example.org/">dear</a>.</p>',
    "Bells": "<h2>Bells</h2><p>Ring.</p>",
}
CHAPTER = "EPUB/text/ch1.xhtml"


def parse(data: bytes) -> GraphFragment:
    request = ParseRequest(uri="files://notes/books/island.epub", source="notes", path="books/island.epub")
    return parse_document(data, request, count_tokens=count_words)


def changed(data: bytes, change: Callable[[str, bytes], bytes], **more: str) -> bytes:
    """The same archive with members changed, and more of them."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(buffer, "w") as new:
        for name in old.namelist():
            new.writestr(name, change(name, old.read(name)))
        for name, text in more.items():
            new.writestr(f"META-INF/{name}.xml", text)
    return buffer.getvalue()


def element_at(data: bytes, cfi: str) -> str:
    """The text of the element that a CFI leads to in the files of the book, step by step."""
    spine_steps, steps = cfi.removeprefix("epubcfi(").removesuffix(")").split("!")
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        package = etree.fromstring(archive.read("EPUB/content.opf"))
        spine = package[int(spine_steps.split("/")[1]) // 2 - 1]
        reference = spine[int(spine_steps.split("/")[2].partition("[")[0]) // 2 - 1]
        href = next(i.get("href") for i in package.iter("{*}item") if i.get("id") == reference.get("idref"))
        element = etree.fromstring(archive.read(f"EPUB/{href}"))
    for step in steps.split("/")[1:]:
        element = element[int(step.partition("[")[0]) // 2 - 1]
    return "".join(element.itertext())


def test_chapters_stand_side_by_side_and_are_named() -> None:
    fragment = parse(ebooklib_epub("The island", BOOK))

    assert [section.heading_path for section in sections_of(fragment)] == [
        ("Lamps",), ("Lamps", "Wick"), ("Oil",), ("Prices",), ("Bells",),
    ]  # fmt: skip
    assert (fragment.kind, fragment.title) == ("epub", "The island")
    assert {chunk.breadcrumbs for chunk in fragment.chunks} == {("books", "The island")}
    assert {chunk.lang for chunk in fragment.chunks} == {"en"}


def test_the_fragment_of_a_passage_leads_to_its_heading_in_the_book() -> None:
    data = ebooklib_epub("The island", BOOK)
    found = {
        chunk.section: element_at(data, chunk.fragment or "")
        for chunk in parse(data).chunks
        if chunk.section not in {"Oil", "Prices"}
    }

    assert found == {"Lamps": "Lamps", "Wick": "Wick", "Bells": "Bells"}


def test_a_link_inside_the_book_leads_to_the_place_of_its_target() -> None:
    data = ebooklib_epub("The island", BOOK)
    fragment = parse(data)

    link = links_of(fragment)["rape"]
    assert link.target == fragment.uri
    assert element_at(data, link.fragment or "") == "Rape is dear."
    assert any(link.fragment in (chunk.fragment, *chunk.fragments) for chunk in fragment.chunks)
    assert links_of(fragment)["dear"].target == "https://example.org/"


def test_a_book_of_pandoc_is_read_with_its_notes_and_tables() -> None:
    texts = {one.heading: one.text for one in sections_of(parse((SAMPLES / "epub.2.epub").read_bytes()))}

    assert texts["Tides"] == "Moon | Tide\nfull | spring\nhalf | neap"
    assert "Not in fog." in texts["Landing"]


ENCRYPTED = (
    '<encryption xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><EncryptedData '
    'xmlns="http://www.w3.org/2001/04/xmlenc#"><CipherData><CipherReference URI="{}"/></CipherData>'
    "</EncryptedData></encryption>"
)
LAUGHS = b'<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;"><!ENTITY f SYSTEM "file:///etc/hostname">]>'


def same(_name: str, data: bytes) -> bytes:
    return data


def test_a_book_whose_fonts_alone_are_encrypted_is_read() -> None:
    data = changed(ebooklib_epub("The island", BOOK), same, encryption=ENCRYPTED.format("EPUB/font.otf"))

    assert parse(data).chunks


def test_entities_of_a_chapter_are_not_followed() -> None:
    def change(name: str, data: bytes) -> bytes:
        if name != CHAPTER:
            return data
        return data.replace(b"<!DOCTYPE html>", LAUGHS).replace(b"Cut it.", b"Cut &f; it &b;.")

    text = "".join(section.text for section in sections_of(parse(changed(ebooklib_epub("I", BOOK), change))))
    assert "Cut" in text
    assert Path("/etc/hostname").read_text().strip() not in text


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (lambda data: data[: len(data) // 2], "truncated or damaged"),
        (
            lambda data: changed(data, same, encryption=ENCRYPTED.format(CHAPTER)),
            "encrypted: EPUB/text/ch1.xhtml",
        ),
        (
            lambda data: changed(data, lambda n, b: b[:90] if n.endswith(".opf") else b),
            "content.opf is no XML",
        ),
        (lambda data: changed(data, lambda n, b: b.replace(b"itemref", b"other")), "names no chapter"),
        (
            lambda data: changed(data, lambda n, b: b.replace(b'href="text/ch1', b'href="text/no')),
            "there is no EPUB/",
        ),
        (lambda data: changed(data, lambda n, b: b.replace(b"EPUB/content.opf", b"../../x")), "there is no "),
        (lambda data: changed(data, lambda n, b: b"" if n == CHAPTER else b), "no element found"),
        (lambda _: bytes(range(256)) * 9, "truncated or damaged"),
    ],
)
def test_a_bad_file_is_an_error_that_says_what_is_wrong(spoil: Callable[[bytes], bytes], reason: str) -> None:
    with pytest.raises(ParseError, match=rf"island\.epub: .*{reason}"):
        parse(spoil(ebooklib_epub("The island", BOOK)))


def test_an_archive_of_something_else_is_no_epub() -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("a.txt", "x")

    with pytest.raises(ParseError, match=r"no EPUB: there is no META-INF/container\.xml"):
        parse(buffer.getvalue())
