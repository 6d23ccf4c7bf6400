"""DOCX: what comes of headings, lists, tables, notes and links, and how bad files end."""

import io
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import docx
import pytest
from docx.enum.style import WD_STYLE_TYPE
from docx.oxml import OxmlElement
from docx.oxml.ns import qn

from schemas.errors import ParseError
from tests.fakes.docx_files import python_docx
from tests.fakes.office_files import repacked, saved
from tests.fakes.pages import parse_file, sections_of, texts_of
from tests.fakes.plain_documents import H, L, P, T
from tests.fakes.secret_samples import github_token

SAMPLES = Path(__file__).parents[4] / "samples" / "formats"
parse = partial(parse_file, path="papers/report.docx")


def test_headings_lists_and_tables_keep_their_places() -> None:
    rows = (("Oil", "Price"), ("rape", "3"), ("", "4"))
    fragment = parse(
        python_docx((H(0, "Lamps"), H(1, "Oil"), P("Buy early."), H(3, "Prices"), T(rows), L(("a", "b"))))
    )

    assert [section.heading_path for section in sections_of(fragment)] == [
        ("Lamps",),
        ("Oil",),
        ("Oil", "Prices"),
    ]
    assert texts_of(fragment)["Prices"] == "Oil | Price\nrape | 3\n | 4\n\n- a\n- b"
    assert (fragment.kind, fragment.title) == ("docx", "Lamps")
    assert {chunk.breadcrumbs for chunk in fragment.chunks} == {("papers", "Lamps")}


def test_a_style_that_is_based_on_a_heading_is_a_heading() -> None:
    document = docx.Document()
    for name, base in [
        ("Chapter of 'ours'", "Heading 2"),
        ("Below it", "Chapter of 'ours'"),
        ("Aside", "Normal"),
    ]:
        document.styles.add_style(name, WD_STYLE_TYPE.PARAGRAPH).base_style = document.styles[base]
    level = OxmlElement("w:outlineLvl")
    level.set(qn("w:val"), "4")
    document.styles["Aside"].element.get_or_add_pPr().append(level)
    for style in ("Chapter of 'ours'", "Below it", "Aside"):
        document.add_paragraph(style, style=style)

    assert [(one.heading, one.level) for one in sections_of(parse(saved(document)))] == [
        ("Chapter of 'ours'", 2),
        ("Below it", 2),
        ("Aside", 5),
    ]


def test_a_table_of_contents_is_no_content() -> None:
    document = docx.Document()
    document.styles.add_style("toc 1", WD_STYLE_TYPE.PARAGRAPH)
    document.add_paragraph("Lamps\t1", style="toc 1")
    document.add_heading("Lamps", 1)
    document.add_paragraph("Trim them.")

    assert texts_of(parse(saved(document))) == {"Lamps": "Trim them."}


def test_a_note_stands_after_the_paragraph_that_cites_it() -> None:
    fragment = parse((SAMPLES / "docx.2.docx").read_bytes())

    first, *_ = sections_of(fragment)
    assert first.text == (
        "The supply boat lands on Thursdays[1]\n\n[1] Not in fog: then it waits at the outer buoy."
    )
    assert {chunk.fragment for chunk in fragment.chunks} == {None}
    assert fragment.links == ()


def test_a_link_is_resolved_against_the_file() -> None:
    made = python_docx((P("See LINK"),))
    link = (
        b'<w:hyperlink r:id="rIdNew" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships">'
        b"<w:r><w:t>prices</w:t></w:r></w:hyperlink></w:p>"
    )
    relation = (
        b'<Relationship Id="rIdNew" TargetMode="External" Target="prices.docx" '
        b'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/hyperlink"/></Relationships>'
    )

    def change(name: str, data: bytes) -> bytes:
        if name == "word/document.xml":
            return data.replace(b"</w:p>", link, 1)
        return data.replace(b"</Relationships>", relation) if name.endswith("document.xml.rels") else data

    (found,) = parse(repacked(made, change)).links
    assert (found.target, found.text) == ("files://notes/papers/prices.docx", "prices")


def bomb(_: bytes) -> bytes:
    """An archive of 40 KB that unpacks to 300 MB."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", bytes(300 * 1024 * 1024))
    return buffer.getvalue()


def large(data: bytes) -> bytes:
    """A text of 33 MB in 70 KB."""
    return repacked(data, lambda name, xml: xml + b" " * 33 * 1024 * 1024 if "document.xml" in name else xml)


def many(_: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for number in range(10_001):
            archive.writestr(f"word/{number}", b"")
    return buffer.getvalue()


def flagged(data: bytes) -> bytes:
    """The same archive with its first member marked as encrypted, here and in the directory."""
    directory = data.index(b"PK\x01\x02")
    return data[:6] + b"\x01" + data[7 : directory + 8] + b"\x01" + data[directory + 9 :]


def with_entities(data: bytes) -> bytes:
    laughs = b'<!DOCTYPE w [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]>'
    return repacked(
        data, lambda name, xml: xml.replace(b"?>", b"?>" + laughs, 1) if name == "word/document.xml" else xml
    )


def with_utf16_entities(data: bytes) -> bytes:
    laughs = '<?xml version="1.0" encoding="UTF-16"?><!DOCTYPE w SYSTEM "file:///etc/hostname"><w/>'
    return repacked(
        data,
        lambda name, xml: (
            laughs.encode("utf-16") if name == "word/comments.xml" or "document.xml" in name else xml
        ),
    )


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (lambda data: data[: len(data) // 2], "truncated or damaged"),
        (lambda data: data[:200] + bytes(200) + data[400:], "damaged"),
        (lambda _: b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(2_000), "encrypted, or of Word before 2007"),
        (flagged, "encrypted; save it without a password"),
        (bomb, "unpacks to more than 256 MB in 10000 files"),
        (large, "unpacks to more than 32 MB"),
        (many, "unpacks to more than 256 MB in 10000 files"),
        (with_entities, "word/document.xml has a document type"),
        (with_utf16_entities, "has a document type"),
        (
            lambda data: repacked(data, lambda name, xml: xml[:300] if name == "word/document.xml" else xml),
            "damaged",
        ),
        (
            lambda data: repacked(data, lambda name, xml: b"<a/>" if name == "word/document.xml" else xml),
            "damaged",
        ),
        (
            lambda data: repacked(data, lambda name, xml: xml[:-60] if name == "word/document.xml" else xml),
            "damaged: ExpatError",
        ),
        (lambda _: bytes(range(256)) * 8, "truncated or damaged"),
    ],
)
def test_a_bad_file_is_an_error_that_says_what_is_wrong(spoil: Callable[[bytes], bytes], reason: str) -> None:
    with pytest.raises(ParseError, match=rf"report\.docx: .*{reason}"):
        parse(spoil(python_docx((H(1, "Lamps"), P("Trim them.")))))


def test_a_damaged_picture_of_a_document_harms_nothing() -> None:
    data = python_docx((P("Buy early."),))
    picture = b"the picture of its first page"
    with zipfile.ZipFile(buffer := io.BytesIO(data), "a") as archive:
        archive.writestr("docProps/preview.jpeg", picture)
    damaged = buffer.getvalue().replace(picture, picture[::-1])
    assert parse(damaged).text == parse(data).text


def test_an_archive_of_something_else_is_no_docx() -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("xl/workbook.xml", "<workbook/>")

    with pytest.raises(ParseError, match=r"no DOCX: there is no word/document\.xml"):
        parse(buffer.getvalue())


def test_a_page_under_the_name_of_a_docx_is_html() -> None:
    assert parse(b"<!DOCTYPE html><title>Login</title><h1>Log in</h1><p>Who are you?</p>").kind == "html"


def test_a_secret_in_a_comment_that_nobody_reads_is_told() -> None:
    token = github_token()
    made = docx.Document()
    run = made.add_paragraph("Nothing to see.").add_run("here")
    made.add_comment(run, text=f"the token is {token}", author="a")

    fragment = parse(saved(made))

    assert fragment.secrets
    assert not any(token in chunk.text for chunk in fragment.chunks)
