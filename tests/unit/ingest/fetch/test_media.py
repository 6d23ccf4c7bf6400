"""Which bodies are documents: by what the server calls them, then by their bytes."""

from pathlib import Path

import pytest

from ingest.fetch.media import limits_of
from schemas.fetch import FetchStatus
from schemas.source import SizeLimits
from tests.fakes.fetching import fetch_reply
from tests.fakes.site_server import Reply


@pytest.mark.parametrize(
    ("kind", "body", "taken"),
    [
        ("text/html", b"<p>x", True),
        ("application/xhtml+xml", b"<html/>", True),
        ("text/markdown; charset=utf-8", b"# x", True),
        ("text/plain", b"x", True),
        ("application/pdf", b"%PDF-1.7\n%%EOF", True),
        ("application/octet-stream", b"junk %PDF-1.7\n%%EOF", True),
        ("text/html", b"%PDF-1.7\n%%EOF", True),
        (None, b"<p>x", True),
        ("application/xml", b"<?xml version='1.0'?><html xmlns='x'/>", True),
        ("text/html", "é".encode("utf-16"), True),
        ("application/xml", b"<rss/>", False),
        ("text/html", b"\x89PNG\r\n\x1a\n", False),
        ("text/html", b"PK\x03\x04", False),
        ("application/octet-stream", b"\x7fELF", False),
        ("text/plain", b"a\0b", False),
        ("image/png", b"<p>x", False),
        ("text/css", b"a{}", False),
        ("application/javascript", b"1", False),
        ("application/zip", b"PK", False),
        ("application/json", b"{}", False),
    ],
)
def test_a_document_is_known_by_its_name_and_its_bytes(kind: str | None, body: bytes, taken: bool) -> None:
    result = fetch_reply(Reply(body, content_type=kind))
    assert result.status is (FetchStatus.OK if taken else FetchStatus.UNSUPPORTED)
    assert taken or "unsupported type" in result.reason


def test_an_unsupported_type_is_known_before_its_body_and_its_validators_are_kept() -> None:
    archive = Reply(b"x" * 1_000_000, headers={"ETag": '"z1"'}, content_type="application/zip")
    result = fetch_reply(archive)
    assert (result.status, result.bytes, result.requests) == (FetchStatus.UNSUPPORTED, 0, 1)
    assert (result.http_status, result.etag, result.content_type) == (200, '"z1"', "application/zip")


SAMPLES = Path(__file__).parents[3] / "samples" / "formats"
WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"


@pytest.mark.parametrize(
    ("sample", "path", "kind", "taken"),
    [
        ("docx.1.docx", "/a", WORD, True),
        ("docx.1.docx", "/report.docx?download=1", "application/octet-stream", True),
        ("docx.2.docx", "/report.docx", "application/zip", True),
        ("docx.2.docx", "/report.docx", "text/html", True),
        ("docx.1.docx", "/report.odt", "application/zip", False),
        ("pptx.1.pptx", "/talk.pptx", "application/zip", True),
        ("xlsx.2.xlsx", "/prices.xlsx", "application/vnd.ms-excel", True),
        ("xlsx.1.xlsx", "/prices.xls", "application/vnd.ms-excel", False),
        ("epub.1.epub", "/book", "application/epub+zip", True),
        ("epub.2.epub", "/book", None, True),
        ("notebook.1.ipynb", "/trim.ipynb", "application/json", True),
        ("notebook.1.ipynb", "/trim.ipynb", "text/plain", True),
        ("notebook.1.ipynb", "/trim.json", "application/json", False),
        ("rst.1.rst", "/lamps.rst", "text/x-rst", True),
        ("openapi.1.json", "/v3/api-docs", "application/json", True),
        ("openapi.1.json", "/schema", "application/vnd.oai.openapi+json", True),
        ("openapi.2.yaml", "/schema.yaml", "application/yaml", True),
        ("openapi.2.yaml", "/schema.yml", "text/plain; charset=utf-8", True),
        ("asciidoc.1.adoc", "/lamps.adoc", "text/plain", True),
        ("man.1.7", "/man/light", "text/troff", True),
        ("man.2.8.gz", "/man8/boats.8.gz", "application/gzip", True),
        ("man.2.8.gz", "/backup.gz", "application/gzip", False),
        ("info.1.info", "/light.info", "text/plain", True),
        ("text.1.txt", "/compose.yaml", "application/yaml", False),
        ("notebook.1.ipynb", "/lock.json", "application/json", False),
        ("html.1.html", "/report.docx", "text/html", True),
    ],
)
def test_a_format_is_known_by_what_servers_call_it_or_by_its_name(
    sample: str, path: str, kind: str | None, taken: bool
) -> None:
    result = fetch_reply(Reply((SAMPLES / sample).read_bytes(), content_type=kind), path=path)
    assert result.status is (FetchStatus.OK if taken else FetchStatus.UNSUPPORTED)


def test_the_size_of_a_file_of_another_format_is_capped_by_a_key_of_its_own() -> None:
    large = Reply(b"PK\x03\x04" + b"x" * 2_000_000, content_type=WORD)

    result = fetch_reply(large, limits=limits_of(SizeLimits(file_mb=1)))

    assert result.status is FetchStatus.REFUSED
    assert "limits.file_mb in the source file" in result.reason
