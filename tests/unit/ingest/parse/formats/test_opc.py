"""Packages of Office: in how many ways a file can be bad, and what its parser says of each."""

import io
import zipfile
from collections.abc import Callable

import pytest

from ingest.parse.document import format_of
from schemas.errors import ParseError
from schemas.fragment import ParseRequest
from tests.fakes.office_files import openpyxl_workbook, python_pptx, repacked
from tests.fakes.pages import parse_file, texts_of
from tests.fakes.plain_documents import H, P
from tests.fakes.secret_samples import github_token

MAIN = {"talk.pptx": "ppt/presentation.xml", "prices.xlsx": "xl/workbook.xml"}
GOOD = {"talk.pptx": python_pptx((H(1, "Lamps"), P("Trim them."))), "prices.xlsx": openpyxl_workbook("")}
TEXT = {"talk.pptx": "ppt/slides/slide1.xml", "prices.xlsx": "xl/worksheets/sheet1.xml"}
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(2_000)
LAUGHS = b'<!DOCTYPE w [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]>'


def changed(name: str, change: Callable[[bytes], bytes], part: str | None = None) -> bytes:
    part = part or TEXT[name]
    return repacked(GOOD[name], lambda own, data: change(data) if own == part else data)


def packed(**members: bytes) -> bytes:
    with zipfile.ZipFile(buffer := io.BytesIO(), "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return buffer.getvalue()


@pytest.mark.parametrize("name", GOOD)
@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (lambda name: GOOD[name][: len(GOOD[name]) // 2], "truncated or damaged"),
        (
            lambda name: OLE,
            r"encrypted, or of (PowerPoint|Excel) before 2007; save it as \.(pptx|xlsx) without",
        ),
        (lambda name: packed(a=bytes(300 << 20)), "unpacks to more than 256 MB in 10000 files"),
        (lambda name: changed(name, lambda xml: xml + b" " * (33 << 20)), "unpacks to more than 32 MB"),
        (lambda name: changed(name, lambda xml: LAUGHS + xml.rpartition(b"?>")[2]), "has a document type"),
        (lambda name: changed(name, lambda xml: xml[:400]), "damaged"),
        (
            lambda name: changed(name, lambda xml: b"<a/>", MAIN[name]),
            r"damaged, or no (PPTX|XLSX): .* has another root",
        ),
        (lambda name: packed(a=b""), "no (PPTX|XLSX): there is no (ppt|xl)/"),
        (lambda name: bytes(range(256)) * 8, "truncated or damaged"),
    ],
)
def test_a_bad_file_is_an_error_that_says_what_is_wrong(
    name: str, spoil: Callable[[str], bytes], reason: str
) -> None:
    with pytest.raises(ParseError, match=rf"{name}: .*({reason})"):
        parse_file(spoil(name), name)


@pytest.mark.parametrize("name", GOOD)
def test_the_program_is_told_by_the_package_where_the_name_says_nothing(name: str) -> None:
    request = ParseRequest(uri="files://n/a", source="n", path="a")
    assert format_of(GOOD[name], request).name == name.rpartition(".")[2]


@pytest.mark.parametrize("name", ["talk.ppt", "prices.xls", "report.doc"])
def test_a_file_of_before_2007_is_refused_with_the_way_out(name: str) -> None:
    reason = rf"{name}: encrypted, or of \w+ before 2007; save it as {name[-4:]}x without a password"
    with pytest.raises(ParseError, match=reason):
        parse_file(OLE, name)


def test_a_workbook_under_the_name_of_a_presentation_is_refused() -> None:
    with pytest.raises(
        ParseError, match=r"talk\.pptx: damaged, or no PPTX: xl/workbook\.xml has another root"
    ):
        parse_file(GOOD["prices.xlsx"], "talk.pptx")


@pytest.mark.parametrize(
    ("part", "xml"),
    [
        ("xl/connections.xml", '<connections><dbPr connection="Server=oil;Password={}"/></connections>'),
        ("xl/worksheets/_rels/sheet9.xml.rels", "<a><b Target='https://oil.example.org/{}'/></a>"),
        ("customXml/item1.xml", "<a><b>{}</b></a>"),
    ],
)
def test_a_secret_in_a_part_that_is_not_read_is_told(part: str, xml: str) -> None:
    with zipfile.ZipFile(buffer := io.BytesIO(GOOD["prices.xlsx"]), "a") as archive:
        archive.writestr(part, xml.format(github_token()))

    assert parse_file(buffer.getvalue(), "prices.xlsx").secrets


def test_folders_parted_by_backslashes_are_read_and_what_macos_adds_is_not() -> None:
    good = GOOD["prices.xlsx"]
    with zipfile.ZipFile(buffer := io.BytesIO(), "w") as new, zipfile.ZipFile(io.BytesIO(good)) as old:
        for name in old.namelist():
            new.writestr(name.replace("/", "\\"), old.read(name))
        new.writestr("__MACOSX/xl/._workbook.xml", b"\0\5\x16\7")

    made = parse_file(buffer.getvalue(), path="prices.xlsx")
    assert texts_of(made) == texts_of(parse_file(good, path="prices.xlsx"))
