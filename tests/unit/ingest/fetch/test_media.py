"""Which bodies are documents: by what the server calls them, then by their bytes."""

import pytest

from schemas.fetch import FetchStatus
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
