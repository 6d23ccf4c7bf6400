"""WARC files, written by warcio."""

from collections.abc import Mapping
from io import BytesIO
from pathlib import Path

from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

HOST = "http://docs.example.org/"
HTML = {"Content-Type": "text/html; charset=utf-8"}


class Archive:
    """A WARC file in the making."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self._out = BytesIO()
        self._writer = WARCWriter(self._out, gzip=file.suffix == ".gz")
        self.starts: list[int] = []

    def add(
        self,
        path: str,
        body: bytes = b"",
        *,
        status: str = "200 OK",
        headers: Mapping[str, str] = HTML,
        date: str = "2026-01-01T00:00:00Z",
        kind: str = "response",
        **more: str,
    ) -> None:
        """Write a record."""
        http = StatusAndHeaders(status, list(headers.items()), protocol="HTTP/1.1")
        record = self._writer.create_warc_record(
            HOST + path,
            kind,
            payload=BytesIO(body),
            http_headers=http if kind != "resource" else None,
            warc_content_type="text/html" if kind == "resource" else "",
            warc_headers_dict={"WARC-Date": date, **{k.replace("_", "-"): v for k, v in more.items()}},
        )
        self.starts.append(self._out.tell())
        self._writer.write_record(record)
        self.file.write_bytes(self._out.getvalue())
