"""A real PDF as tools for reports make it: the same pages, with a bookmark for each."""

import pymupdf


def with_outline(pdf: bytes) -> bytes:
    """Return a PDF with a bookmark on every page; its pages stay as they are."""
    with pymupdf.open(stream=pdf, filetype="pdf") as document:
        document.set_toc([[1, f"Page {number}", number] for number in range(1, document.page_count + 1)])
        return bytes(document.tobytes())
