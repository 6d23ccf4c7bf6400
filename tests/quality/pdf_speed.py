"""CPU seconds of parsing one PDF in a process of its own, and of reading its text alone.

    python -m tests.quality.pdf_speed FILE.pdf

Prints JSON: pages, megabytes, and CPU seconds of the whole parse through chunking and of `get_text("dict")`.
Import and the first use of the tokenizer come before the clock starts.
"""

import argparse
import json
import time
from pathlib import Path

import pymupdf

from ingest.parse.pdf.opening import load_pymupdf
from tests.quality.pdf_documents import count_tokens, parse_file


def main() -> None:
    """Measure one file, the better of three turns each."""
    arguments = argparse.ArgumentParser(description="Time the parser on one PDF.")
    arguments.add_argument("file", type=Path)
    file: Path = arguments.parse_args().file
    data = file.read_bytes()
    load_pymupdf()
    count_tokens("lamp")
    parse = min(_timed_parse(data, file.name) for _ in range(3))
    read, pages = min(_timed_read(data) for _ in range(3))
    print(
        json.dumps(
            {"pages": pages, "megabytes": len(data) / 1e6, "parse_seconds": parse, "read_seconds": read}
        )
    )


def _timed_parse(data: bytes, name: str) -> float:
    started = time.process_time()
    parse_file(data, name)
    return time.process_time() - started


def _timed_read(data: bytes) -> tuple[float, int]:
    started = time.process_time()
    with pymupdf.open(stream=data, filetype="pdf") as document:
        flags = pymupdf.TEXTFLAGS_DICT & ~pymupdf.TEXT_PRESERVE_IMAGES
        pages = [page.get_text("dict", flags=flags) for page in document]
    return time.process_time() - started, len(pages)


if __name__ == "__main__":
    main()
