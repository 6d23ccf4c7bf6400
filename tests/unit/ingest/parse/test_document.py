import pytest

from schemas.errors import UnsupportedMedia
from schemas.nodes import DocumentKind
from tests.fakes.pages import parse_file, parse_page, sections_of


def test_a_picture_is_refused_by_its_bytes() -> None:
    with pytest.raises(UnsupportedMedia):
        parse_page(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\0", content_type="text/html")


def test_a_style_sheet_is_refused_by_its_type() -> None:
    with pytest.raises(UnsupportedMedia, match="text/css"):
        parse_page("body { color: red }", content_type="text/css; charset=utf-8")


def test_a_file_named_md_is_markdown() -> None:
    assert parse_file("# Plan\n\nText.").kind == DocumentKind.MARKDOWN


@pytest.mark.parametrize("path", ["Plan #2.md", "why?.md", "C#/plan.md"])
def test_the_ending_of_a_path_is_found_behind_any_sign(path: str) -> None:
    assert parse_file("# Plan\n\nText.", path=path).kind == DocumentKind.MARKDOWN


def test_a_whole_web_page_at_an_address_that_ends_in_md_is_html() -> None:
    uri = "http://docs.example/readme.md"
    assert parse_page("<!DOCTYPE html><h1>Read me</h1>", uri=uri, url=uri).kind == DocumentKind.HTML


def test_plain_text_is_one_section_without_heading() -> None:
    fragment = parse_file("First line.\r\n\r\n  Indented.", path="notes.txt")
    (section,) = sections_of(fragment)
    assert (section.level, section.text, fragment.title) == (0, "First line.\n\n  Indented.", "notes.txt")


def test_an_html_file_of_a_folder_has_a_path_and_no_url() -> None:
    fragment = parse_file("<h1>Manual</h1><p>Text.</p>", path="manual/a.html")
    assert [(chunk.file_path, chunk.url) for chunk in fragment.chunks] == [("manual/a.html", None)]


def test_a_document_that_does_not_say_its_language_has_that_of_its_source() -> None:
    note = parse_file("# Haus\n\nText.", language="de")
    page = parse_file("<html lang=fr><h1>Maison</h1><p>Texte.</p>", path="maison.html", language="de")

    assert {chunk.lang for chunk in note.chunks} == {"de"}
    assert {chunk.lang for chunk in page.chunks} == {"fr"}
    assert parse_file("# Haus\n\nText.").chunks[0].lang is None
