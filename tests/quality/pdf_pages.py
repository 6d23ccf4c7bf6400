"""CPU seconds of parsing an edited PDF, with the pages of its earlier version and without, in one process.

    python -m tests.quality.pdf_pages BEFORE.pdf AFTER.pdf [--ocr LANGUAGE]

Prints JSON: pages read, recognised and reused, seconds of both parses (those of Tesseract included), seconds
of the digests alone, whether the fragments are equal, and how many bytes the pages are kept in.
"""

import argparse
import json
import os
from pathlib import Path

from ingest.parse.document import parse_document
from ingest.parse.pdf.opening import open_pdf
from ingest.parse.pdf.page_cache import PageCache, PageDigests
from runtime.programs import recognise
from schemas.fragment import GraphFragment, ParseRequest
from schemas.records import to_record
from tests.quality.pdf_documents import count_tokens


def main() -> None:
    """Measure one edit."""
    arguments = argparse.ArgumentParser(description="Time a parse that reuses pages.")
    arguments.add_argument("before", type=Path)
    arguments.add_argument("after", type=Path)
    arguments.add_argument("--ocr", default="")
    given = arguments.parse_args()
    url = "https://docs.example/manual.pdf"
    request = ParseRequest(uri=url, source="docs", url=url, ocr=tuple(filter(None, [given.ocr])))
    earlier = PageCache()
    _parse(given.before.read_bytes(), request, earlier)
    pages, data = earlier.dump(), given.after.read_bytes()
    cache = PageCache(pages)
    reused, reusing_seconds = _parse(data, request, cache)
    whole, whole_seconds = _parse(data, request, None)
    told = {
        **to_record(cache.counts),
        "reusing_seconds": reusing_seconds,
        "whole_seconds": whole_seconds,
        "digest_seconds": _digest_seconds(data),
        "equal": to_record(reused) == to_record(whole),
        "bytes": len(pages),
    }
    print(json.dumps(told))


def _parse(data: bytes, request: ParseRequest, cache: PageCache | None) -> tuple[GraphFragment, float]:
    started = _cpu_seconds()
    fragment = parse_document(data, request, count_tokens=count_tokens, recognise=recognise, cache=cache)
    return fragment, _cpu_seconds() - started


def _digest_seconds(data: bytes) -> float:
    document = open_pdf(data, subject="manual.pdf")
    started = _cpu_seconds()
    digests = PageDigests(document, context="")
    for index in range(document.page_count):
        digests.of(index)
    return _cpu_seconds() - started


def _cpu_seconds() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


if __name__ == "__main__":
    main()
